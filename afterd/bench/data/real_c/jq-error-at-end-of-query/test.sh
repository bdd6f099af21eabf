# jq says what is wrong with the query and exits with 3.
./jq -n -f query.jq
[ $? -eq 3 ]
