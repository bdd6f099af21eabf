./driver words.lua | grep 'three.*3'
