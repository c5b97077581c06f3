// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import java.io.IOException;
import java.io.InputStream;

/** A stream of the bytes that a connection receives. */
final class ConnInput extends InputStream {
    private final Conn conn;

    ConnInput(Conn conn) {
        this.conn = conn;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] to, int offset, int length) throws IOException {
        int n;
        do {
            n = conn.read(to, offset, length);
        } while (n == 0 && length > 0); // A stream cannot return an empty datagram.
        return n;
    }

    @Override
    public void close() {
        conn.close();
    }
}
