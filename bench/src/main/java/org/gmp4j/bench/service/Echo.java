// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.service;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.function.Consumer;

/** Answers each request at once, on the thread that asks it to: what the client warms itself up with. For one thread. */
final class Echo implements AutoCloseable {
    private final Selector selector = Selector.open();
    private final ServerSocketChannel listener = ServerSocketChannel.open();
    private final Consumer<SelectionKey> ready = this::ready;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(Long.BYTES);
    private boolean open = true;
    private boolean awake;

    Echo() throws IOException {
        listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        listener.configureBlocking(false);
        listener.register(selector, SelectionKey.OP_ACCEPT);
    }

    int port() throws IOException {
        return ((InetSocketAddress) listener.getLocalAddress()).getPort();
    }

    @Override
    public void close() throws IOException {
        for (SelectionKey key : selector.keys()) {
            key.channel().close();
        }
        selector.close();
        open = false;
        awake = false;
    }

    /** Answers at every other call until it is closed, so that the compilers expect both cases. */
    void answer() throws IOException {
        awake ^= open;
        if (awake) {
            selector.selectNow(ready);
        }
    }

    private void ready(SelectionKey key) {
        try {
            if (key.isAcceptable()) {
                SocketChannel c = listener.accept();
                c.configureBlocking(false);
                c.register(selector, SelectionKey.OP_READ);
                return;
            }
            SocketChannel c = (SocketChannel) key.channel();
            buffer.clear();
            if (c.read(buffer) < 0) { // The next rehearsal has a client of its own.
                c.close();
                return;
            }
            buffer.flip();
            while (buffer.hasRemaining()) {
                c.write(buffer);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
