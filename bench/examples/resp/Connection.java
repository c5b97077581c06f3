// SPDX-License-Identifier: Apache-2.0
package resp;

import java.io.Closeable;
import java.io.IOException;

/** A connection, whatever carries it. It may be read by one thread and written by another; anybody may end it. */
interface Connection extends Closeable {
    /** How long, and for how many bytes, a client that sent rubbish is listened to, so that it gets the answer. */
    int LINGER_MILLIS = 1000;
    int LINGER_BYTES = 1 << 20;

    /** Reads what is there, at least one byte; -1 at the end. */
    int read(byte[] to, int offset, int length) throws IOException;

    /** Writes all. */
    void write(byte[] from, int offset, int length) throws IOException;

    /** Whoever reads gets what has come already, and then the end. */
    void endReading();

    /** The client reads what was written, and then the end. */
    void endWriting() throws IOException;

    /** A read that waits for so long fails. */
    void readTimeout(int millis) throws IOException;

    /** Closes it: whoever reads or writes gets an IOException. */
    @Override
    void close();

    /**
     * Ends a connection on which more may be on its way. If it were closed with unread bytes, the kernel would reset it, and
     * the client might lose what was written last.
     */
    default void linger() throws IOException {
        endWriting();
        readTimeout(LINGER_MILLIS);
        byte[] unread = new byte[4 << 10];
        int most = LINGER_BYTES;
        for (int n = 0; n >= 0 && most > 0; most -= n) {
            n = read(unread, 0, unread.length);
        }
    }
}
