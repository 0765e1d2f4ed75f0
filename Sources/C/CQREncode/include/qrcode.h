#pragma once

#include <qrencode.h>

// QR code symbols by libqrencode. It is loaded for the first symbol: otherwise every run of brokerctl would wait for it, and few
// show a symbol.

/// The symbol for `count` bytes, or NULL if they are too many, or the library is not installed. Free it with ``broker_qr_free``.
QRcode *broker_qr_encode(const unsigned char *bytes, int count);
void broker_qr_free(QRcode *symbol);
