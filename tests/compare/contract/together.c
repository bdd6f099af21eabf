#include "together.h"
