#include "CEchoServer.h"
