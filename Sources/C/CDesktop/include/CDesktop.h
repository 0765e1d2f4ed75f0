#pragma once

// What the desktop around the broker says on D-Bus. sd-bus' calls are variadic, which Swift does not have.
#include "login.h"
#include "presence.h"
