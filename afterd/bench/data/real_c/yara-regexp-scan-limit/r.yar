rule long_span { strings: $a = /begin[a-z]{1,3000}end/ condition: $a }
