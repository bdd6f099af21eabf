./yara-scan r.yar in.txt | diff expected -
