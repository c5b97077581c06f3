// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import java.io.IOException;
import java.io.OutputStream;

/** A stream that writes to a connection. Closing it closes the connection. */
final class ConnOutput extends OutputStream {
    private final Conn conn;

    ConnOutput(Conn conn) {
        this.conn = conn;
    }

    @Override
    public void write(int b) throws IOException {
        conn.write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] from, int offset, int length) throws IOException {
        conn.write(from, offset, length);
    }

    @Override
    public void close() {
        conn.close();
    }
}
