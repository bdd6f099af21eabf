./driver | diff expected -
