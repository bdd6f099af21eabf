-- Count the words of a text, and print them in order.
local text = "one two three Two three Three"
local count = {}
for word in text:gmatch("%a+") do
  word = word:lower()
  count[word] = (count[word] or 0) + 1
end
local words = {}
for word in pairs(count) do
  words[#words + 1] = word
end
table.sort(words)
for at, word in ipairs(words) do
  print(at, word, count[word])
end
