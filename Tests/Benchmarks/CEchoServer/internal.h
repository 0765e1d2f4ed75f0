#pragma once

#include <stddef.h>
#include <stdint.h>

uint64_t bench_now(void);
int bench_connect(const char *path, int *descriptor);
int bench_ask(int descriptor, const uint8_t *request, size_t length, uint8_t *buffer, size_t capacity);
