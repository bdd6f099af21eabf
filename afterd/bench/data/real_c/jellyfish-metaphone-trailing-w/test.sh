./driver law | diff expected -
