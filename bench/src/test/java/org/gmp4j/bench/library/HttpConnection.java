// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** A client's connection: one request after another on one blocking socket. For one thread. */
final class HttpConnection implements AutoCloseable {
    private final Socket socket;
    private final InputStream in;
    private final String host;

    /** A response with status 200: the value of {@link HttpService#THREAD_HEADER}, the body, and whether the connection ends with it. */
    record Answer(String thread, byte[] body, boolean last) {
    }

    HttpConnection(InetSocketAddress server) throws IOException {
        socket = new Socket(server.getAddress(), server.getPort());
        socket.setTcpNoDelay(true);
        in = new BufferedInputStream(socket.getInputStream());
        host = server.getHostString();
    }

    /** Sends a request and waits for its answer. Any status but 200 is an exception. */
    Answer post(String path, byte[] body) throws IOException {
        byte[] head = ("POST " + path + " HTTP/1.1\r\nHost: " + host + "\r\nContent-Length: " + body.length + "\r\n\r\n")
                .getBytes(StandardCharsets.US_ASCII);
        byte[] request = new byte[head.length + body.length];
        System.arraycopy(head, 0, request, 0, head.length);
        System.arraycopy(body, 0, request, head.length, body.length);
        socket.getOutputStream().write(request);
        return answer();
    }

    private Answer answer() throws IOException {
        String status = line();
        if (!status.startsWith("HTTP/1.1 200")) {
            throw new IOException("status: " + status);
        }
        int length = 0;
        String thread = "";
        boolean last = false;
        for (String header = line(); !header.isEmpty(); header = line()) {
            int colon = header.indexOf(':');
            String value = header.substring(colon + 1).strip();
            switch (header.substring(0, colon).toLowerCase(Locale.ROOT)) {
                case "content-length" -> length = Integer.parseInt(value);
                case "x-thread" -> thread = value;
                case "connection" -> last = value.equalsIgnoreCase("close");
                case "transfer-encoding" -> throw new IOException("not a plain body: " + value);
                default -> {}
            }
        }
        byte[] body = in.readNBytes(length);
        if (body.length < length) {
            throw new EOFException("in the middle of a body");
        }
        return new Answer(thread, body, last);
    }

    private String line() throws IOException {
        StringBuilder text = new StringBuilder();
        for (int b = in.read(); b != '\n'; b = in.read()) {
            if (b < 0) {
                throw new EOFException("in the middle of a head: " + text);
            }
            if (b != '\r') {
                text.append((char) b);
            }
        }
        return text.toString();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
