#pragma once

#include <qrencode.h>

// QR code symbols by libqrencode. It is loaded when the first one is made: every run of brokerctl would wait for it otherwise, and few show
// a symbol.

/// The symbol for `count` bytes, or NULL where they are too many, or the library is not there. To be freed by ``broker_qr_free``.
QRcode *broker_qr_encode(const unsigned char *bytes, int count);
void broker_qr_free(QRcode *symbol);
