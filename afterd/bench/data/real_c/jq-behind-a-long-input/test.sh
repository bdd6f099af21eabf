# The arguments are read before the query is compiled.
./jq --slurpfile data long.json -n -f query.jq
[ $? -eq 3 ]
