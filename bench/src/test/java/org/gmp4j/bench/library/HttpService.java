// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library;

import java.io.IOException;
import java.net.InetSocketAddress;

import org.gmp4j.Go;

/** A web server under test, started by {@link HttpServices}; every request is answered by {@link #answer}. */
interface HttpService extends AutoCloseable {
    /** The response header that says on what the request was answered. */
    String THREAD_HEADER = "X-Thread";

    /** Where it listens: the loopback interface. */
    InetSocketAddress address();

    @Override
    void close() throws IOException;

    /**
     * What a request's answer is: its body turned around. The path says what the handler does before: {@code /sleep}
     * sleeps a millisecond, any other does nothing.
     */
    static byte[] answer(String path, byte[] body) throws InterruptedException {
        if (path.startsWith("/sleep")) {
            Thread.sleep(1);
        }
        return reversed(body);
    }

    /** The body turned around. */
    static byte[] reversed(byte[] body) {
        byte[] answer = new byte[body.length];
        for (int i = 0; i < body.length; i++) {
            answer[i] = body[body.length - 1 - i];
        }
        return answer;
    }

    /** What the calling thread is, for {@link #THREAD_HEADER}. */
    static String thread() {
        return Go.inGoroutine() ? "goroutine" : Thread.currentThread().isVirtual() ? "virtual" : "platform";
    }
}
