<?php
// Loaded first (auto_prepend_file): lines are counted, and written down when the process ends.
if (function_exists('pcov\start') && getenv('AFTERD_COUNTS')) {
    \pcov\start();
    register_shutdown_function(function (): void {
        \pcov\stop();
        $said = '';
        foreach (\pcov\collect(\pcov\all) as $file => $lines) {
            $said .= "SF:$file\n";
            foreach ($lines as $line => $count) {
                $said .= "DA:$line," . max(0, $count) . "\n";
            }
            $said .= "end_of_record\n";
        }
        file_put_contents(getenv('AFTERD_COUNTS') . '/' . getmypid() . '.lcov', $said);
    });
}
