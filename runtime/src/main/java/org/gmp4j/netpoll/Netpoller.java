// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.netpoll;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.gmp4j.ffi.Epoll;
import org.gmp4j.ffi.Errno;
import org.gmp4j.ffi.EventFd;
import org.gmp4j.ffi.Fd;
import org.gmp4j.ffi.Memory;
import org.gmp4j.ffi.NativeException;
import org.gmp4j.lock.Note;
import org.gmp4j.lock.ProcessEnd;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Netpoll;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sched.jdk.JdkReady;
import org.gmp4j.stack.JdkPollers;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.PollDesc;
import org.gmp4j.struct.SchedStat;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Throw;

/**
 * {@code netpoll}: the network poller of one scheduler, which uses epoll. It is opened when a goroutine first waits for a descriptor, or
 * gets a descriptor of {@code org.gmp4j.net}. An M whose P has nothing else to run polls without blocking, one M at a time. The M that has
 * to watch the timers sleeps in the poller. While it sleeps there, only an M that spins under a latency policy polls as well. Sysmon polls
 * when no M did for 10 ms. No other thread polls.
 *
 * <p>A registration serves one wait (EPOLLONESHOT), like a registration in the JDK's poller. The reason is that the JDK may close a
 * descriptor between two waits without a call of the runtime. An epoll instance has at most one registration of a descriptor, but one
 * goroutine may read while another writes. So there are two epoll instances, one for readers and one for writers. The readers' instance
 * watches the writers' instance as one more descriptor. Rejected: one registration for both directions. Its change needs a lock, and the
 * kernel would report that the descriptor is writable even while goroutines wait only to read.
 *
 * <pre>
 *  the goroutine that waits                   an M that polls
 *  1 word 0 -> G and tag                      1 epoll_wait gives descriptor and tag
 *  2 epoll_ctl with the tag                   2 word with that tag -> READY; else the event is stale: nothing
 *  3 park                                     3 unpark
 *  4 word -> 0; if it was not READY,
 *    epoll_ctl deletes the registration
 * </pre>
 *
 * <p>No readiness is lost. If a descriptor is ready before step 2 on the left, the kernel still reports it, because epoll_ctl checks the
 * descriptor's state. The word is written before step 2, so the M that gets the event finds the goroutine in it. If step 3 on the right
 * comes before step 3 on the left, the thread's permit is set and the park returns at once.
 *
 * <p>No stale event wakes a goroutine. Suppose that an M has an event in its buffer. Meanwhile the goroutine ends its wait, the descriptor
 * is closed, and a goroutine waits for a new descriptor with the same number. The new wait has another tag, so the event is stale. The tag
 * also protects against an old registration that is still armed because a child process has the old file open. The goroutine that is
 * unparked at step 3 may have ended its wait after step 2, because of a time-out, an interrupt or a close. The goroutine may even have
 * ended, and another goroutine may have its G. Then the unpark gives a needless permit. Callers of {@code park} must expect such permits,
 * because the JDK's own pollers give them too.
 *
 * <p>While a goroutine waits in the poller, a thread polls. The count of waiters grows before the goroutine parks. The goroutine's M then
 * searches for work, and polls. If it finds no work, and no other M sleeps in the poller, it sleeps there itself
 * ({@code FindRunnable.giveUp}). If that M finds other work instead, sysmon polls.
 *
 * <p>Only {@link PollFd} closes the sockets of {@code org.gmp4j.net}. So such a socket is registered only once, in the readers' instance,
 * edge-triggered and for both directions: see {@link Registration}.
 *
 * <p>Until the poller is open, the M that watches timers sleeps on a futex. {@link #make(Scheduler)} ends that sleep, and also the first
 * sleep in epoll. So if a thread found the poller not open and woke the futex, its wake-up is not lost when the M goes to sleep in epoll.
 */
public final class Netpoller implements Netpoll, EdgePoller {
    /** Events that one epoll_wait takes. */
    private static final int EVENTS = 128;
    /** The least time between two attempts to open the poller for the JDK's sockets. */
    private static final long RETRY_NANOS = 1_000_000_000;
    /** The data of the event that ends an M's sleep in epoll: see {@link #wake}. */
    private static final long BREAK = -1;
    /** The data of the readers' event that reports events of the writers' instance. */
    private static final long WRITERS = -2;
    private static final VarHandle LONGS = MethodHandles.arrayElementVarHandle(long[].class);

    /** Whether the poller is open. Written once, under the lock, after the descriptors and the buffers. */
    private volatile boolean open;
    /** The nanoTime of the last failure to open the poller for the JDK's sockets; 0 for none. */
    private volatile long failedAt;
    /** Written by {@link #close}, when all goroutines have ended. Read when a descriptor of {@code org.gmp4j.net} is registered. */
    private volatile boolean closed;
    private int readers = -1;
    private int writers = -1;
    private int breaker = -1;
    /** Two buffers for events: one for the M that blocks, one for a poll that does not block. */
    private long buffers;
    /** The structs pollDesc by descriptor; 0 where there is none. The array and its elements are written under the lock. */
    private volatile long[] descs = new long[0];
    /** The structs pollDesc of the descriptors that are registered until they are closed. */
    private final PollCache cache = new PollCache();

    /** The list of goroutines that one poll found ready. It is reused, so that a poll allocates nothing. */
    private static final class Found {
        private long first;
        private long last;
        private int count;

        private void add(long gp) {
            count++;
            G.SCHEDLINK.set(gp, 0);
            if (last == 0) {
                first = gp;
            } else {
                G.SCHEDLINK.set(last, gp);
            }
            last = gp;
        }

        private long take() {
            long list = first;
            first = 0;
            last = 0;
            count = 0;
            return list;
        }
    }

    private final Found blocking = new Found();
    private final Found nonblocking = new Found();

    /** Makes the poller of a new scheduler. It is not open yet. */
    public Netpoller() {
        JdkPollers.use(JdkWaits.INSTANCE);
    }

    @Override
    public long poll(Scheduler s, long delay) {
        if (!open) {
            return NONE.poll(s, delay);
        }
        if (delay != 0) {
            return poll(s, delay, buffers, blocking);
        }
        if (Schedt.POLLINGNET.getAndSet(s.sched, 1) != 0) {
            return 0; // Another M polls, and finds the goroutines that are ready.
        }
        try {
            return poll(s, 0, buffers + (long) EVENTS * Epoll.EVENT_BYTES, nonblocking);
        } finally { // Runs also when there is no memory for a call. A later poll then finds the events.
            Schedt.POLLINGNET.setRelease(s.sched, 0);
        }
    }

    private long poll(Scheduler s, long delay, long events, Found found) {
        int n = await(readers, events, EVENTS, delay);
        boolean write = false;
        for (int i = 0; i < n; i++) {
            long data = Epoll.dataAt(events, i);
            if (data >= PollCache.FOR_GOOD) {
                changed(s, PollCache.of(data), Epoll.eventsAt(events, i), found);
            } else if (data >= 0) {
                ready(s, data, false, found);
            } else if (data == WRITERS) {
                write = true;
            } else if (delay != 0) { // A poll that does not block leaves the event to the M that blocks.
                long _ = EventFd.take(breaker);
                Schedt.NETPOLLWAKESIG.setVolatile(s.sched, 0); // The caller then checks its timers again.
            }
        }
        if (write) {
            n = await(writers, events, EVENTS, 0);
            for (int i = 0; i < n; i++) {
                ready(s, Epoll.dataAt(events, i), true, found);
            }
        }
        boolean blocks = delay != 0;
        (blocks ? SchedStat.NPOLLBLOCK : SchedStat.NPOLL).addOpaque(s.sched, 1);
        (blocks ? SchedStat.NREADYBLOCK : SchedStat.NREADY).addOpaque(s.sched, found.count);
        return found.take();
    }

    /** Waits up to {@code nanos} ns; a negative number means no limit. Returns the number of events, at most {@code most}, or -EINTR. */
    static int await(int epfd, long events, int most, long nanos) {
        boolean naps = nanos != 0 && ProcessEnd.begun();
        if (naps) {
            ProcessEnd.nap(nanos);
        }
        int n = Epoll.awaitNanos(epfd, events, most, naps ? 0 : nanos);
        if (n < 0 && n != -Errno.EINTR) {
            throw Throw.of("netpoll: epoll_wait failed with error " + -n);
        }
        return n;
    }

    /** {@code netpollready}: adds the goroutines that an event of a descriptor of {@code org.gmp4j.net} makes ready. */
    private static void changed(Scheduler s, long pd, int events, Found found) {
        if (pd == 0) {
            return;
        }
        PollCache.note(pd, events);
        if (PollCache.readable(events)) {
            found(s, Registration.unblock(pd, false, true), found);
        }
        if (PollCache.writable(events)) {
            found(s, Registration.unblock(pd, true, true), found);
        }
    }

    private static void found(Scheduler s, long gp, Found found) {
        if (gp != 0) {
            int _ = Schedt.addNetpollWaiters(s.sched, -1);
            found.add(gp);
        }
    }

    private void ready(Scheduler s, long data, boolean write, Found found) {
        long pd = existing((int) data);
        long word = PollDesc.waiterVolatile(pd, write);
        if (PollDesc.tag(word) != (int) (data >>> Integer.SIZE) || !PollDesc.casWaiter(pd, write, word, PollDesc.READY)) {
            return;
        }
        int _ = Schedt.addNetpollWaiters(s.sched, -1);
        // If the goroutine has ended since the CAS, this is the stack of another goroutine, or none.
        if (GSlots.stack(PollDesc.g(word)) instanceof GStack st) {
            long gp = JdkReady.netReady(st);
            if (gp != 0) {
                found.add(gp);
            }
        }
    }

    @Override
    public void wake(Scheduler s) {
        if (!open) {
            NONE.wake(s);
        } else if (Schedt.NETPOLLWAKESIG.compareAndSet(s.sched, 0, 1)) {
            int _ = EventFd.add(breaker, 1);
        }
    }

    @Override
    public boolean anyWaiters(Scheduler s) {
        return Schedt.NETPOLLWAITERS.getVolatile(s.sched) > 0;
    }

    // The waiting side

    /**
     * Registers a descriptor for one wait of the calling goroutine. Called on its stack, inside {@code GStack.enter}. No other goroutine
     * of this scheduler may wait for the descriptor in this direction.
     *
     * @return 0; an error number of epoll_ctl; or -1 when no epoll instance can be made
     */
    int register(GStack st, int fd, boolean write) {
        Scheduler s = st.scheduler();
        if (!open && !open(s)) {
            return -1;
        }
        long pd = existing(fd);
        if (pd == 0) {
            pd = make(fd);
        }
        int tag = PollDesc.nextTag(pd, write);
        long word = PollDesc.word(st.gp(), tag);
        PollDesc.setWaiterVolatile(pd, write, word);
        int _ = Schedt.addNetpollWaiters(s.sched, 1);
        int epfd = write ? writers : readers;
        int events = (write ? Epoll.OUT : Epoll.IN) | Epoll.ONESHOT;
        long data = (long) tag << Integer.SIZE | fd;
        int e = Epoll.control(epfd, Epoll.MODIFY, fd, events, data);
        if (e == Errno.ENOENT) {
            e = Epoll.control(epfd, Epoll.ADD, fd, events, data);
        }
        if (e != 0) {
            PollDesc.setWaiterVolatile(pd, write, 0); // No event can have come yet.
            int _ = Schedt.addNetpollWaiters(s.sched, -1);
        }
        return e;
    }

    /**
     * Ends the wait of the calling goroutine, and deletes its registration if the wait ended without an event. No new descriptor can have
     * the number yet, because the JDK releases the number only when all waiters have left. During a close the number already refers to
     * another file, which the JDK has put there.
     *
     * @return false when {@link #register} had not registered it
     */
    boolean deregister(GStack st, int fd, boolean write) {
        long pd = existing(fd);
        long word = pd == 0 ? 0 : PollDesc.waiterVolatile(pd, write);
        if (word == 0) {
            return false;
        }
        if (word != PollDesc.READY && PollDesc.casWaiter(pd, write, word, 0)) {
            int _ = Schedt.addNetpollWaiters(st.scheduler().sched, -1);
            int _ = Epoll.control(write ? writers : readers, Epoll.DELETE, fd, 0, 0); // ENOENT after a close.
        } else {
            PollDesc.setWaiterVolatile(pd, write, 0);
        }
        return true;
    }

    @Override
    public void eachWait(Waits to) {
        int most = descs.length;
        for (int fd = 0; fd < most; fd++) {
            long pd = existing(fd);
            if (pd != 0) {
                waits(to, fd, PollDesc.waiterVolatile(pd, false), false);
                waits(to, fd, PollDesc.waiterVolatile(pd, true), true);
            }
        }
    }

    private static void waits(Waits to, int fd, long word, boolean write) {
        if (PollDesc.tag(word) != 0) {
            to.waits(PollDesc.g(word), fd, write);
        }
    }

    private long existing(int fd) {
        long[] t = descs;
        return fd < t.length ? (long) LONGS.getAcquire(t, fd) : 0;
    }

    private long make(int fd) {
        JdkThreads.pin(); // A goroutine inside the runtime must not unmount, and the monitor might unmount it.
        try {
            synchronized (this) {
                long[] t = descs;
                if (fd >= t.length) {
                    t = java.util.Arrays.copyOf(t, Math.max(64, Integer.highestOneBit(fd) * 2));
                }
                if (t[fd] == 0) {
                    LONGS.setRelease(t, fd, PollDesc.make());
                }
                descs = t;
                return t[fd];
            }
        } finally {
            JdkThreads.unpin();
        }
    }

    @Override
    public PollCache cache() {
        return cache;
    }

    @Override
    public int registerForGood(int fd, long pd) {
        return PollCache.register(readers, fd, pd);
    }

    @Override
    public boolean isClosed() {
        return closed;
    }

    /**
     * Opens the poller, unless it is open. Must be called before {@link #registerForGood}.
     *
     * @throws NativeException when no epoll instance can be made now
     */
    void openOrThrow(Scheduler s) {
        if (!open) {
            make(s);
        }
    }

    /**
     * Opens the poller of the calling goroutine's scheduler. Called when the goroutine gets a descriptor of {@code org.gmp4j.net}, so that
     * its first wait need not open the poller. Go does the same. If there are too few descriptors or too little memory, the first wait
     * tries again. The caller has checked that there is room on the stack.
     */
    static void openEarly() {
        GStack current = GStack.current();
        if (current == null || !(current.scheduler().netpoll() instanceof Netpoller n) || n.open) {
            return;
        }
        GStack st = GStack.enterChecked();
        try {
            boolean _ = n.open(current.scheduler());
        } catch (OutOfMemoryError e) {
            return; // An exception would lose the descriptor, which may be a connection.
        } finally {
            GStack.exit(st);
        }
    }

    private boolean open(Scheduler s) {
        if (failedAt != 0 && System.nanoTime() - failedAt < RETRY_NANOS) {
            return false;
        }
        try {
            make(s);
            return true;
        } catch (NativeException e) {
            failedAt = System.nanoTime() | 1; // The JDK's pollers, with their own epoll instances, then serve this scheduler.
            return false;
        }
    }

    private void make(Scheduler s) {
        JdkThreads.pin();
        try {
            synchronized (this) {
                if (!open) {
                    try {
                        create();
                    } catch (NativeException e) { // An OutOfMemoryError goes to the caller, and the next call continues.
                        release();
                        throw e;
                    }
                    open = true;
                    Note.ring(Schedt.pollBreakAddress(s.sched));
                    wake(s);
                }
            }
        } finally {
            JdkThreads.unpin();
        }
    }

    /** Makes the descriptors and the buffers. If a step fails for lack of memory, the next call continues with that step. */
    private void create() {
        if (readers < 0) {
            readers = Epoll.create();
        }
        if (writers < 0) {
            writers = Epoll.create();
        }
        if (breaker < 0) {
            breaker = EventFd.create();
        }
        watch(breaker, BREAK);
        watch(writers, WRITERS);
        if (buffers == 0) {
            buffers = Memory.map(2L * EVENTS * Epoll.EVENT_BYTES);
        }
    }

    private void watch(int fd, long data) {
        int e = Epoll.control(readers, Epoll.ADD, fd, Epoll.IN, data);
        if (e != 0 && e != Errno.EEXIST) { // EEXIST means that an earlier call has added it and failed at a later step.
            throw new NativeException("epoll_ctl", e);
        }
    }

    /** Releases the descriptors and the buffers that were made. If it fails for lack of memory, the next call continues. */
    private void release() {
        breaker = closed(breaker);
        writers = closed(writers);
        readers = closed(readers);
        if (buffers != 0) {
            Memory.unmap(buffers, 2L * EVENTS * Epoll.EVENT_BYTES);
            buffers = 0;
        }
    }

    private static int closed(int fd) {
        if (fd >= 0) {
            Fd.close(fd);
        }
        return -1;
    }

    /** Does the steps of a first wait once, so that no goroutine waits while classes are loaded. Called on a thread that may block. */
    static void rehearse() {
        Netpoller n = new Netpoller();
        long pd = PollDesc.make();
        try {
            n.create();
            n.rehearseOnce(pd);
        } finally {
            PollDesc.recycle(pd);
            n.release();
        }
    }

    private void rehearseOnce(long pd) {
        int tag = PollDesc.nextTag(pd, false);
        PollDesc.setWaiterVolatile(pd, false, PollDesc.word(0, tag));
        boolean _ = PollDesc.casWaiter(pd, false, PollDesc.word(0, tag), 0);
        int added = EventFd.add(breaker, 1);
        int found = await(readers, buffers, EVENTS, 1);
        boolean isBreaker = Epoll.dataAt(buffers, 0) == BREAK && Epoll.eventsAt(buffers, 0) == Epoll.IN;
        long taken = EventFd.take(breaker);
        int e = Epoll.control(readers, Epoll.MODIFY, breaker, Epoll.IN, BREAK);
        if (added != 0 || found != 1 || !isBreaker || taken != 1 || e != 0) {
            throw new IllegalStateException("an event was not reported");
        }
    }

    @Override
    public void close(Scheduler s) {
        GStack caller = GStack.enterChecked(); // The caller may be a goroutine of another scheduler.
        try {
            closed = true;
            release(); // Also releases the descriptors of a failed open.
            cache.close();
            long[] all = descs;
            for (int i = 0; i < all.length; i++) {
                if (all[i] != 0) {
                    PollDesc.recycle(all[i]);
                    all[i] = 0; // Close may be called again.
                }
            }
        } finally {
            GStack.exit(caller);
        }
    }
}
