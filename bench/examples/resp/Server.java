// SPDX-License-Identifier: Apache-2.0
package resp;

import java.io.IOException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.gmp4j.sync.WaitGroup;

/** What all connections share, and their beginning and end. */
final class Server {
    private static final long SWEEP_MILLIS = 1000;
    private static final long PAUSE_MILLIS = 10;

    final Store store = new Store();
    final Hub hub = new Hub();
    private final Listener listener;
    private final Set<Connection> connections = ConcurrentHashMap.newKeySet();
    private final WaitGroup sessions = new WaitGroup();
    private final CountDownLatch stopping = new CountDownLatch(1);

    Server(Listener listener) {
        this.listener = listener;
    }

    int port() {
        return listener.port();
    }

    /** Serves until it is stopped and all connections have ended. In a goroutine or a virtual thread: so are those. */
    void run() {
        Resp.start(this::sweep);
        while (!stopped()) {
            Connection c;
            try {
                c = listener.accept();
            } catch (IOException e) { // It was closed; or there is no descriptor, and others go on meanwhile.
                boolean _ = stopsWithin(PAUSE_MILLIS);
                continue;
            }
            connections.add(c);
            sessions.add(1);
            Resp.start(() -> serve(c));
        }
        sessions.await();
    }

    private void serve(Connection c) {
        try (c) {
            if (stopped()) {
                c.endReading(); // It was accepted while the others were told.
            }
            new Session(this, c).run();
        } catch (IOException gone) {
            return; // The client; others are not concerned.
        } finally {
            connections.remove(c);
            sessions.done();
        }
    }

    private boolean stopped() {
        return stopping.getCount() == 0;
    }

    private boolean stopsWithin(long millis) {
        try {
            return stopping.await(millis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e); // Nobody does.
        }
    }

    private void sweep() {
        while (!stopsWithin(SWEEP_MILLIS)) {
            store.sweep();
        }
    }

    /** Takes no connection any more; those that there are answer what they have been asked, and end. */
    void stop() {
        stopping.countDown();
        listener.close();
        connections.forEach(Connection::endReading);
    }

    /** Closes those that have not ended yet. */
    void kill() {
        connections.forEach(Connection::close);
    }

    String info() {
        return "# Server\r\nredis_version:7.0.0\r\n# Clients\r\nconnected_clients:" + connections.size()
                + "\r\n# Keyspace\r\ndb0:keys=" + store.size() + "\r\n";
    }
}
