// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.netpoll;

import java.io.IOException;

import org.gmp4j.sched.GStack;
import org.gmp4j.sched.jdk.SocketWait;
import org.gmp4j.stack.JdkPollers;

/** Passes the waits of goroutines for the JDK's sockets to the {@link Netpoller} of their scheduler. */
final class JdkWaits implements JdkPollers.Waits {
    static final JdkWaits INSTANCE = new JdkWaits();

    private JdkWaits() {
    }

    @Override
    public void rehearse() {
        Netpoller.rehearse();
    }

    @Override
    public boolean register(int fd, boolean write) throws IOException {
        GStack st = GStack.enter();
        if (st == null) {
            return false;
        }
        int e;
        try {
            e = st.scheduler().netpoll() instanceof Netpoller n ? n.register(st, fd, write) : -1;
            if (e == 0) {
                SocketWait.begins(st);
            }
        } finally {
            GStack.exit(st);
        }
        if (e > 0) {
            throw new IOException("epoll_ctl failed: " + e); // The JDK's poller has the same message.
        }
        return e == 0;
    }

    @Override
    public boolean deregister(int fd, boolean write) {
        GStack st = GStack.enterToGive();
        if (st == null) {
            return false;
        }
        try {
            SocketWait.ended(st);
            return st.scheduler().netpoll() instanceof Netpoller n && n.deregister(st, fd, write);
        } finally {
            GStack.exit(st);
        }
    }
}
