# Loaded first (RUBYOPT): lines are counted, and written down when the process ends.
# What is registered first at exit runs last, so the tests that Minitest runs then are counted too.
require "coverage"
Coverage.start(lines: true)
at_exit do
  counts = Coverage.running? ? Coverage.peek_result : {} # who measures by itself took them
  File.open(File.join(ENV.fetch("AFTERD_COUNTS"), "#{$$}.lcov"), "w") do |report|
    counts.each do |file, found|
      report.puts "SF:#{File.realpath(file)}" if File.file?(file)
      (found[:lines] || []).each_with_index { |count, at| report.puts "DA:#{at + 1},#{count}" if count }
      report.puts "end_of_record"
    end
  end
end
