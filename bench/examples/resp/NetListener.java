// SPDX-License-Identifier: Apache-2.0
package resp;

import java.io.IOException;
import java.time.Duration;

import org.gmp4j.net.TcpConn;
import org.gmp4j.net.TcpListener;

/** Connections of {@code org.gmp4j.net}. */
record NetListener(TcpListener listener) implements Listener {
    static NetListener on(int port) throws IOException {
        return new NetListener(TcpListener.listen("127.0.0.1:" + port));
    }

    @Override
    public int port() {
        return listener.addr().getPort();
    }

    @Override
    public Connection accept() throws IOException {
        return new Net(listener.accept());
    }

    @Override
    public void close() {
        listener.close();
    }

    private record Net(TcpConn conn) implements Connection {
        @Override
        public int read(byte[] to, int offset, int length) throws IOException {
            return conn.read(to, offset, length);
        }

        @Override
        public void write(byte[] from, int offset, int length) throws IOException {
            conn.write(from, offset, length);
        }

        @Override
        public void endReading() {
            try {
                conn.closeRead();
            } catch (IOException gone) {
                return; // Then reading has ended already.
            }
        }

        @Override
        public void endWriting() throws IOException {
            conn.closeWrite();
        }

        @Override
        public void readTimeout(int millis) throws IOException {
            conn.setReadDeadlineAfter(Duration.ofMillis(millis));
        }

        @Override
        public void close() {
            conn.close();
        }
    }
}
