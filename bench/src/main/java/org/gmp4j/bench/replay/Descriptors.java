// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

import org.gmp4j.ffi.Epoll;
import org.gmp4j.ffi.Errno;

/**
 * The descriptors of a run: epoll instances, and files that hold a number of bytes, which stand for eventfds and streams. Numbers are given
 * out as the kernel does, the smallest free one first. A use of a number that is closed is a failure of the run.
 */
public final class Descriptors {
    private static final int FIRST = 3;
    private static final int DATA = Epoll.EVENT_BYTES == 12 ? 4 : 8;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
    /** The words on which lanes sleep in the poller lie between those of memory and of monitors. */
    private static final long SLEEPERS = Long.MIN_VALUE / 2;

    private static final List<File> OPEN = new ArrayList<>();
    private static Object jdkWaits;

    /** An open file. */
    private static final class File {
        final int number;
        /** The descriptors that it watches, if it is an epoll instance; else null. */
        final List<Watch> watches;
        long bytes;
        boolean ended;
        /** How many bytes may still be written. */
        long room = Long.MAX_VALUE;
        /** For how many pauses its close stays in the kernel. */
        int lingers;

        File(int number, boolean poller) {
            this.number = number;
            watches = poller ? new ArrayList<>() : null;
        }

        int state() {
            if (watches != null) {
                return watches.stream().anyMatch(w -> w.ready() != 0) ? Epoll.IN : 0;
            }
            return (room > 0 ? Epoll.OUT : 0) | (bytes > 0 ? Epoll.IN : 0) | (ended ? Epoll.IN | Epoll.RDHUP : 0);
        }
    }

    /** A file that an epoll instance watches. */
    private static final class Watch {
        final File file;
        int events;
        long data;
        /** Whether there was a change since the last report, or none is wanted any more. */
        boolean pending = true;

        Watch(File file) {
            this.file = file;
        }

        boolean has(int flag) {
            return (events & flag) != 0;
        }

        int ready() {
            return has(Epoll.EDGE | Epoll.ONESHOT) && !pending ? 0 : file.state() & events;
        }
    }

    private Descriptors() {
    }

    static void reset() {
        OPEN.clear();
    }

    /** Notes what serves the waits of the JDK's sockets. */
    public static void use(Object waits) {
        jdkWaits = waits;
    }

    /** Returns what serves the waits of the JDK's sockets. */
    public static Object jdkWaits() {
        return jdkWaits;
    }

    private static File make(boolean poller) {
        int n = FIRST;
        for (int i = 0; i < OPEN.size(); i++) {
            n = OPEN.get(i).number == n ? n + 1 : n;
        }
        File f = new File(n, poller);
        OPEN.add(n - FIRST, f);
        return f;
    }

    /** Returns an open file, after a point. */
    private static File file(int fd, boolean writes) {
        if (World.stops()) {
            World.run.point(Sites.DESCRIPTOR, 0, Descriptors.class, writes);
        }
        for (File f : OPEN) {
            if (f.number == fd) {
                return f;
            }
        }
        throw new AssertionError("a descriptor is used that is closed");
    }

    /** {@code Epoll.create}. */
    public static int poller() {
        Digest.unseen("descriptors");
        return make(true).number;
    }

    /** {@code EventFd.create}, and a new stream. */
    public static int open() {
        Digest.unseen("descriptors");
        return make(false).number;
    }

    /** Returns whether a number is that of an open file. */
    public static boolean isOpen(int fd) {
        if (World.stops()) {
            World.run.point(Sites.DESCRIPTOR, 0, Descriptors.class, false);
        }
        return OPEN.stream().anyMatch(f -> f.number == fd);
    }

    /** Returns whether an epoll instance watches a file. */
    public static boolean isWatched(int fd) {
        File f = file(fd, false);
        return OPEN.stream().anyMatch(p -> p.watches != null && p.watches.stream().anyMatch(w -> w.file == f));
    }

    /** Lets so many bytes be written to a stream; its peer reads no others. */
    public static void room(int fd, long n) {
        File f = file(fd, true);
        f.room = n;
        changed(f);
    }

    /** Lets the close of a file stay in the kernel for {@code n} pauses of a spin. */
    public static void linger(int fd, int n) {
        file(fd, true).lingers = n;
    }

    /** Returns how many bytes may be written to a stream. */
    public static long roomOf(int fd) {
        return file(fd, false).room;
    }

    /** {@code Fd.close}: no epoll instance watches the file any more. */
    public static void close(int fd) {
        File f = file(fd, true);
        for (int i = 0; i < f.lingers; i++) {
            World.pause();
        }
        OPEN.remove(f);
        for (File p : OPEN) {
            if (p.watches != null) {
                p.watches.removeIf(w -> w.file == f);
            }
        }
    }

    /** {@code EventFd.add}, and bytes that come in. */
    public static int add(int fd, long n) {
        File f = file(fd, true);
        f.bytes += n;
        changed(f);
        return 0;
    }

    /** Ends a stream: behind its bytes is its end. */
    public static void end(int fd) {
        File f = file(fd, true);
        f.ended = true;
        changed(f);
    }

    /** Brings the last bytes of a stream together with its end. */
    public static void addLast(int fd, long n) {
        File f = file(fd, true);
        f.bytes += n;
        f.ended = true;
        changed(f);
    }

    private static void changed(File f) {
        for (File p : OPEN) {
            if (p.watches != null) {
                for (Watch w : p.watches) {
                    if (w.file == f) {
                        w.pending |= w.has(Epoll.EDGE);
                        tell(p);
                    }
                }
            }
        }
    }

    private static void tell(File poller) {
        if (poller.state() != 0) {
            int _ = World.run.wake(SLEEPERS + poller.number, Integer.MAX_VALUE);
            for (File p : OPEN) {
                if (p.watches != null && p.watches.stream().anyMatch(w -> w.file == poller)) {
                    tell(p);
                }
            }
        }
    }

    /** {@code EventFd.take}. */
    public static long take(int fd) {
        File f = file(fd, true);
        long n = f.bytes;
        f.bytes = 0;
        return n == 0 ? -Errno.EAGAIN : n;
    }

    /** {@code SocketIo.read}. */
    public static long read(int fd, MemorySegment to) {
        File f = file(fd, true);
        long n = Math.min(f.bytes, to.byteSize());
        f.bytes -= n;
        return n == 0 && !f.ended ? -Errno.EAGAIN : n;
    }

    /** {@code SocketIo.send}: writes as much as there is room for. */
    public static long send(int fd, MemorySegment from) {
        File f = file(fd, true);
        long n = Math.min(f.room, from.byteSize());
        f.room -= n;
        return n == 0 ? -Errno.EAGAIN : n;
    }

    /** {@code SocketIo.send} of several pieces. */
    public static long send(int fd, MemorySegment[] from, int first, int n) {
        File f = file(fd, true);
        long sent = 0;
        for (int i = first; i < first + n; i++) {
            sent += Math.min(f.room - sent, from[i].byteSize());
        }
        f.room -= sent;
        return sent == 0 ? -Errno.EAGAIN : sent;
    }

    /** {@code Epoll.control}. */
    public static int control(int epfd, int op, int fd, int events, long data) {
        File p = file(epfd, true);
        File f = OPEN.stream().filter(o -> o.number == fd).findFirst().orElse(null);
        Watch known = p.watches.stream().filter(w -> w.file == f).findFirst().orElse(null);
        if (f == null) {
            return Errno.EBADF;
        }
        if (op == Epoll.ADD ? known != null : known == null) {
            return op == Epoll.ADD ? Errno.EEXIST : Errno.ENOENT;
        }
        if (op == Epoll.DELETE) {
            p.watches.remove(known);
            return 0;
        }
        if (known == null) {
            known = new Watch(f);
            p.watches.add(known);
        }
        known.events = events;
        known.data = data;
        known.pending = true;
        tell(p);
        return 0;
    }

    /** {@code Epoll.awaitNanos}. */
    public static int await(int epfd, long events, int most, long nanos) {
        int n = look(file(epfd, true), events, most);
        if (n != 0 || nanos == 0) {
            return n;
        }
        int error = World.run.sleep(SLEEPERS + epfd, nanos);
        n = look(file(epfd, true), events, most);
        return n != 0 || error != 0 ? n : -Errno.EINTR;
    }

    private static int look(File p, long events, int most) {
        int n = 0;
        for (Watch w : p.watches) {
            int ready = w.ready();
            if (ready != 0 && n < most) {
                long at = events + (long) n * Epoll.EVENT_BYTES;
                org.gmp4j.ffi.AddressSpace.ALL.set(INT, at, ready);
                org.gmp4j.ffi.AddressSpace.ALL.set(LONG, at + DATA, w.data);
                w.pending = false;
                n++;
            }
        }
        return n;
    }
}
