// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.service;

import java.util.List;

import org.gmp4j.SpinPolicy;

/**
 * A server.
 *
 * @param peer whose scheduler
 * @param name for people and files
 * @param arguments of its program
 */
record Variant(Peer peer, String name, List<String> arguments) {
    /** Whose scheduler runs the server. */
    enum Peer {
        JDK("jdk"),
        GO("go"),
        /** Ours, with plain sockets. */
        GMP4J("gmp4j"),
        /** Ours, with those of {@code org.gmp4j.net}. */
        NET("net");

        private final String key;

        Peer(String key) {
            this.key = key;
        }

        /** Returns the name in options and files. */
        String key() {
            return key;
        }
    }

    /** Returns the variant on the JDK's scheduler of virtual threads. */
    static Variant jdk() {
        return new Variant(Peer.JDK, Peer.JDK.key(), List.of("jdk"));
    }

    /** Returns Go's variant. */
    static Variant go() {
        return new Variant(Peer.GO, Peer.GO.key(), List.of());
    }

    /** Ours with plain sockets, and a time slice. */
    static Variant ours(Quantum quantum, SpinPolicy spin) {
        return ours(Peer.GMP4J, "gmp", quantum, spin);
    }

    /** Returns our variant with the sockets of {@code org.gmp4j.net}. */
    static Variant net(Quantum quantum, SpinPolicy spin) {
        return ours(Peer.NET, "net", quantum, spin);
    }

    /** Returns whether our scheduler runs it. */
    boolean isOurs() {
        return peer == Peer.GMP4J || peer == Peer.NET;
    }

    private static Variant ours(Peer peer, String sockets, Quantum quantum, SpinPolicy spin) {
        String name = peer.key() + " " + quantum.text() + (spin.equals(SpinPolicy.go()) ? "" : " " + spin);
        return new Variant(peer, name, List.of(sockets, quantum.argument(), spin.toString()));
    }
}
