// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.tryout;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The sockets that processes listen on, by what the kernel tells under {@code /proc}. */
final class Listeners {
    private static final List<Path> TABLES = List.of(Path.of("/proc/net/tcp"), Path.of("/proc/net/tcp6"));
    private static final String LISTEN = "0A";
    private static final int LOCAL = 1; // columns
    private static final int STATE = 3;
    private static final int INODE = 9;
    private static final int WORD = 8; // hexadecimal digits
    private static final String SOCKET = "socket:[";

    private Listeners() {
    }

    /** Returns the listening sockets of this network, by inode, with the address to connect to. */
    static Map<Long, InetSocketAddress> all() throws IOException {
        Map<Long, InetSocketAddress> found = new HashMap<>();
        for (Path table : TABLES) {
            if (Files.exists(table)) { // A kernel may have no IPv6.
                found.putAll(parse(Files.readAllLines(table)));
            }
        }
        return found;
    }

    /** Parses a table of the kernel's. A wildcard address becomes the loopback's. */
    static Map<Long, InetSocketAddress> parse(List<String> table) throws UnknownHostException {
        Map<Long, InetSocketAddress> found = new HashMap<>();
        for (String line : table.subList(Math.min(1, table.size()), table.size())) {
            String[] v = line.strip().split("\\s+");
            if (v.length > INODE && v[STATE].equals(LISTEN)) {
                int colon = v[LOCAL].indexOf(':');
                InetAddress address = InetAddress.getByAddress(bytes(v[LOCAL].substring(0, colon)));
                int port = Integer.parseInt(v[LOCAL].substring(colon + 1), 16);
                found.put(Long.parseLong(v[INODE]),
                        new InetSocketAddress(address.isAnyLocalAddress() ? InetAddress.getLoopbackAddress() : address, port));
            }
        }
        return found;
    }

    /** Returns the bytes of an address, whose words have this machine's byte order. */
    private static byte[] bytes(String hex) {
        ByteBuffer address = ByteBuffer.allocate(hex.length() / 2);
        for (int i = 0; i < hex.length(); i += WORD) {
            int word = HexFormat.fromHexDigits(hex, i, i + WORD);
            address.putInt(ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? Integer.reverseBytes(word) : word);
        }
        return address.array();
    }

    /** Returns the sockets that one of the processes has open, by port. */
    static TreeMap<Integer, InetSocketAddress> of(Map<Long, InetSocketAddress> sockets, List<Long> pids) {
        Set<Long> open = new HashSet<>();
        pids.forEach(pid -> open.addAll(inodes(pid)));
        TreeMap<Integer, InetSocketAddress> found = new TreeMap<>();
        sockets.forEach((inode, address) -> {
            if (open.contains(inode)) {
                found.merge(address.getPort(), address, (a, b) -> a.getAddress().getAddress().length == 4 ? a : b);
            }
        });
        return found;
    }

    private static Set<Long> inodes(long pid) {
        Set<Long> found = new HashSet<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(Path.of("/proc", "" + pid, "fd"))) {
            for (Path file : files) {
                String target = target(file);
                if (target.startsWith(SOCKET)) {
                    found.add(Long.parseLong(target.substring(SOCKET.length(), target.length() - 1)));
                }
            }
        } catch (IOException e) {
            return found; // It has ended.
        }
        return found;
    }

    private static String target(Path file) {
        try {
            return Files.readSymbolicLink(file).toString();
        } catch (IOException e) {
            return ""; // It was closed.
        }
    }
}
