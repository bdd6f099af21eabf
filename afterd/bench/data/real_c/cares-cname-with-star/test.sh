./driver
