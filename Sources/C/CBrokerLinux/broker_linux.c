#include "CBrokerLinux.h"
