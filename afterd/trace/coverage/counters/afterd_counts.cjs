// Node writes its counts when a process ends by itself: one that is ended by a signal writes them here first. Vitest
// runs tests in processes that it ends so.
'use strict';

const { takeCoverage } = require('node:v8');

const written = () => {
  takeCoverage();
  if (process.listenerCount('SIGTERM') === 1) {
    process.removeListener('SIGTERM', written);
    process.kill(process.pid, 'SIGTERM');
  }
};

if (process.env.NODE_V8_COVERAGE && require('node:worker_threads').isMainThread) {
  process.on('SIGTERM', written);
}
