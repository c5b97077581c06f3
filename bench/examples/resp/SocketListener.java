// SPDX-License-Identifier: Apache-2.0
package resp;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** Connections of {@code java.net}. */
record SocketListener(ServerSocket listener) implements Listener {
    private static final int BACKLOG = 4096;

    static SocketListener on(int port) throws IOException {
        return new SocketListener(new ServerSocket(port, BACKLOG, InetAddress.getLoopbackAddress()));
    }

    @Override
    public int port() {
        return listener.getLocalPort();
    }

    @Override
    public Connection accept() throws IOException {
        Socket s = listener.accept();
        try {
            s.setTcpNoDelay(true);
            return new Plain(s, s.getInputStream(), s.getOutputStream());
        } catch (IOException gone) {
            s.close();
            throw gone;
        }
    }

    @Override
    public void close() {
        try {
            listener.close();
        } catch (IOException e) {
            System.err.println(e);
        }
    }

    private record Plain(Socket socket, InputStream in, OutputStream out) implements Connection {
        @Override
        public int read(byte[] to, int offset, int length) throws IOException {
            return in.read(to, offset, length);
        }

        @Override
        public void write(byte[] from, int offset, int length) throws IOException {
            out.write(from, offset, length);
        }

        @Override
        public void endReading() {
            try {
                socket.shutdownInput();
            } catch (IOException gone) {
                return; // Then reading has ended already.
            }
        }

        @Override
        public void endWriting() throws IOException {
            socket.shutdownOutput();
        }

        @Override
        public void readTimeout(int millis) throws IOException {
            socket.setSoTimeout(millis);
        }

        @Override
        public void close() {
            try {
                socket.close();
            } catch (IOException e) {
                System.err.println(e);
            }
        }
    }
}
