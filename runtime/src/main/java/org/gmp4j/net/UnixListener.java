package org.gmp4j.net;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;

import org.gmp4j.ffi.UnixSockets;
import org.gmp4j.netpoll.PollFd;
import org.gmp4j.proc.GStack;

/** A socket of the Unix domain that takes connections ({@code net.UnixListener}). Thread-safe: see {@link Listener}. */
public final class UnixListener extends Listener<UnixConn> {
    private final String path;
    /** Whether the file is ours to remove: to the first close. */
    private final AtomicBoolean ours = new AtomicBoolean(true);

    UnixListener(PollFd fd, String path) {
        super(fd);
        this.path = path;
    }

    /**
     * Listens with the settings of a new {@link ListenConfig}.
     *
     * @param path as for {@link ListenConfig#listenUnix}
     * @return the listener
     * @throws IOException as {@link ListenConfig#listenUnix}
     */
    public static UnixListener listen(String path) throws IOException {
        return new ListenConfig().listenUnix(path);
    }

    /**
     * Where it listens.
     *
     * @return the path, or the name with {@code @}
     */
    public String addr() {
        return path;
    }

    @Override
    String what() {
        return "unix " + path;
    }

    @Override
    UnixConn connection(int descriptor) {
        return new UnixConn(new PollFd(descriptor), path);
    }

    /**
     * Closes it and removes its file, if it is still there. Who waits in {@link #accept} gets a {@link ClosedException}.
     *
     * <p>The file goes first: while it is there somebody listens, so nobody takes it for one that was left behind, and its
     * name, just before another's would be removed.
     */
    @Override
    public void close() {
        GStack.checkAll(); // Refused before anything has happened.
        if (ours.compareAndSet(true, false)) {
            boolean done = false;
            try {
                UnixSockets.unlink(path);
                done = true;
            } finally {
                if (!done) {
                    ours.set(true); // No memory.
                }
            }
        }
        super.close();
    }
}
