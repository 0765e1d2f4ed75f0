#pragma once

// Linux functions that Glibc's Swift module or Debian's headers lack: one pair of files for each subject.
#include "descriptors.h"
#include "events.h"
#include "hardening.h"
#include "loopback.h"
#include "memory.h"
#include "peer.h"
#include "stream.h"
