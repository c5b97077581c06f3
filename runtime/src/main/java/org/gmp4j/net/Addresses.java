// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

import org.jspecify.annotations.Nullable;

/** Reads and writes addresses as text: {@code host:port}, {@code [ipv6]:port}, {@code :port}. */
final class Addresses {
    private static final int MOST_PORT = 0xFFFF;

    /** A host and a port. The host may be an IP address, a name, or empty. */
    record HostPort(String host, int port) {
        /** Returns the address if the host is an IP address. Returns null if it is a name or empty. */
        @Nullable InetAddress literal() {
            try {
                return host.isEmpty() ? null : InetAddress.ofLiteral(host);
            } catch (IllegalArgumentException name) {
                return null;
            }
        }
    }

    private Addresses() {
    }

    /**
     * Splits an address into host and port ({@code SplitHostPort}).
     *
     * @throws IllegalArgumentException when the address has another form
     */
    static HostPort parse(String address) {
        int colon = address.lastIndexOf(':');
        if (colon < 0) {
            throw new IllegalArgumentException("address " + address + ": missing port in address");
        }
        String host = address.substring(0, colon);
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        } else if (host.indexOf(':') >= 0) {
            throw new IllegalArgumentException("address " + address + ": too many colons in address");
        }
        int port;
        try {
            port = Integer.parseInt(address.substring(colon + 1));
        } catch (NumberFormatException e) {
            port = -1;
        }
        if (port < 0 || port > MOST_PORT) {
            throw new IllegalArgumentException("address " + address + ": the port is not 0 to 65535");
        }
        return new HostPort(host, port);
    }

    /**
     * Returns the address to listen on: the first address of a name, after a look-up, or the wildcard address if there is no host.
     *
     * @throws UnknownHostException when the name is unknown
     */
    static InetSocketAddress local(String address) throws UnknownHostException {
        HostPort hp = parse(address);
        if (hp.host().isEmpty()) {
            return new InetSocketAddress(hp.port());
        }
        InetAddress literal = hp.literal();
        return new InetSocketAddress(literal != null ? literal : Lookup.all(hp.host())[0], hp.port());
    }

    static boolean isIpv6(InetSocketAddress address) {
        return address.getAddress() instanceof Inet6Address;
    }

    /** Returns an address as Go writes it. */
    static String text(@Nullable Object address) {
        return switch (address) {
            case null -> "?";
            case InetSocketAddress a when a.getAddress() instanceof Inet6Address ip ->
                    "[" + ip.getHostAddress() + "]:" + a.getPort();
            case InetSocketAddress a when a.getAddress() != null -> a.getAddress().getHostAddress() + ":" + a.getPort();
            default -> address.toString();
        };
    }
}
