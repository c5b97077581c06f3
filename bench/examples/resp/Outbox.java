// SPDX-License-Identifier: Apache-2.0
package resp;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.Chan;

/**
 * What waits to be sent to a client that has subscribed, and the goroutine that sends it. It is bounded: an offer never
 * waits, and a client that does not keep up is closed. Offers come from its session and, while that is subscribed, from
 * publishers.
 */
final class Outbox {
    /** How many messages wait for a client at most, and how many bytes. */
    static final int MOST_MESSAGES = 1024;
    static final int MOST_BYTES = 2 * Request.MOST_BYTES;

    private static final int TOGETHER = 16 << 10;

    private final Connection conn;
    private final Chan<byte[]> messages = Chan.make(MOST_MESSAGES);
    private final Chan<Boolean> sent = Chan.make();
    private final AtomicInteger bytes = new AtomicInteger();

    Outbox(Connection conn) {
        this.conn = conn;
        Resp.start(this::send);
    }

    /** Takes a message, which nobody changes any more; false when there is no room. */
    boolean offer(byte[] message) {
        if (bytes.addAndGet(message.length) <= MOST_BYTES && messages.trySend(message)) {
            return true;
        }
        bytes.addAndGet(-message.length);
        return false;
    }

    /** No more is offered: waits until all is sent, or the connection has failed. */
    void close() {
        messages.close();
        sent.recv();
    }

    private void send() {
        byte[] together = new byte[TOGETHER];
        try {
            for (byte[] first : messages) {
                int n = 0;
                for (byte[] m = first; m != null; m = n < TOGETHER ? messages.tryRecv() : null) {
                    bytes.addAndGet(-m.length);
                    if (n + m.length > TOGETHER) {
                        conn.write(together, 0, n);
                        n = 0;
                    }
                    if (m.length > TOGETHER) {
                        conn.write(m, 0, m.length);
                    } else {
                        System.arraycopy(m, 0, together, n, m.length);
                        n += m.length;
                    }
                }
                conn.write(together, 0, n);
            }
        } catch (IOException gone) {
            conn.close(); // Its session notices, and takes it out of all channels.
        } finally {
            sent.close();
        }
    }
}
