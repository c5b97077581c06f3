// SPDX-License-Identifier: Apache-2.0
package resp;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.gmp4j.sync.Mutex;

/**
 * Which clients have subscribed to what. A subscriber is told of its subscription under the lock that publishers take, so a message
 * never comes before that answer, and none after the answer to the end of it. Thread-safe.
 */
final class Hub {
    private final Mutex lock = new Mutex();
    private final Map<Bytes, Set<Session>> channels = new HashMap<>();

    /** What subscribes or unsubscribes, and tells the client so. */
    interface Change {
        void make() throws IOException;
    }

    /** Makes a change; nothing is published meanwhile. */
    void change(Change c) throws IOException {
        lock.lock();
        try {
            c.make();
        } finally {
            lock.unlock();
        }
    }

    /** In a {@link #change}; the channel's name is one to keep. */
    void add(Bytes channel, Session s) {
        boolean _ = channels.computeIfAbsent(channel, _ -> new LinkedHashSet<>()).add(s);
    }

    /** In a {@link #change}. */
    void remove(Bytes channel, Session s) {
        Set<Session> subscribers = channels.get(channel);
        if (subscribers != null && subscribers.remove(s) && subscribers.isEmpty()) {
            channels.remove(channel);
        }
    }

    /** Sends a message to all subscribers; how many there are. Those that have no room for it are closed. */
    int publish(Bytes channel, byte[] message) {
        List<Session> slow = new ArrayList<>();
        int n = 0;
        lock.lock();
        try {
            for (Session s : channels.getOrDefault(channel, Set.of())) {
                n++;
                if (!s.offer(message)) {
                    slow.add(s);
                }
            }
        } finally {
            lock.unlock();
        }
        slow.forEach(Session::close); // Not under the lock: that may take a while.
        return n;
    }
}
