#pragma once

// Signals and calls of the desktop on D-Bus. sd-bus' functions are variadic, which Swift does not support.
#include "login.h"
#include "presence.h"
