// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.top;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;
import javax.management.JMX;
import javax.management.MBeanServerConnection;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;
import org.gmp4j.metrics.GmpMXBean;

/** A JVM of this machine whose schedulers can be read: by its JMX agent, which it is told to start. */
final class Process implements AutoCloseable {
    private static final ObjectName BEANS = name("org.gmp4j:type=Gmp,*");
    private static final String UID = "unix:uid";
    private static final Integer ROOT = 0;
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration BETWEEN = Duration.ofMillis(100);

    private final JMXConnector connector;
    private final MBeanServerConnection server;

    /** One sentence that says why a process cannot be read. */
    static final class Refused extends Exception {
        private static final long serialVersionUID = 1;

        Refused(String sentence, Throwable cause) {
            super(sentence, cause);
        }
    }

    /** A scheduler of it. */
    record Bean(String name, GmpMXBean bean) {
    }

    private Process(JMXConnector connector) throws IOException {
        this.connector = connector;
        server = connector.getMBeanServerConnection();
    }

    private static ObjectName name(String text) {
        try {
            return new ObjectName(text);
        } catch (MalformedObjectNameException e) {
            throw new IllegalArgumentException(e);
        }
    }

    /** Attaches to the process of an id as a user has given it: see {@link #attach(long)}. */
    static Process attach(String pid) throws Refused, InterruptedException {
        if (!pid.matches("[1-9][0-9]{0,9}")) {
            throw new Refused("\"" + pid + "\" is no process id", null);
        }
        return attach(Long.parseLong(pid));
    }

    /** Waits until its schedulers have noticed the use of JMX, within a second or so. */
    private static Process attach(long pid) throws Refused, InterruptedException {
        if (ProcessHandle.of(pid).isEmpty()) {
            throw new Refused("there is no process " + pid, null);
        }
        if (isOfAnother(pid)) {
            throw new Refused("process " + pid + " belongs to another user: only that user and root can read it", null);
        }
        if (!mayBeJvm(pid)) { // To attach sends a signal, and waits for an answer.
            throw new Refused("process " + pid + " is no JVM", null);
        }
        Process process;
        try {
            VirtualMachine vm = VirtualMachine.attach(Long.toString(pid));
            try {
                process = new Process(JMXConnectorFactory.connect(new JMXServiceURL(vm.startLocalManagementAgent())));
            } finally {
                vm.detach();
            }
        } catch (AttachNotSupportedException e) { // Its text has the whole command line.
            throw new Refused("process " + pid + " is no JVM that can be attached to", e);
        } catch (IOException e) {
            String why = Objects.toString(e.getMessage(), e.toString()).lines().findFirst().orElse("").replaceAll("\\.$", "");
            throw new Refused("process " + pid + " cannot be read: " + why, e);
        }
        boolean done = false;
        try {
            process.awaitBeans(pid);
            done = true;
            return process;
        } catch (IOException e) {
            throw new Refused("process " + pid + " has ended", e);
        } finally {
            if (!done) {
                process.close();
            }
        }
    }

    private static boolean isOfAnother(long pid) {
        try {
            Object mine = Files.getAttribute(Path.of("/proc/self"), UID);
            return !mine.equals(ROOT) && !mine.equals(Files.getAttribute(Path.of("/proc/" + pid), UID));
        } catch (IOException | UnsupportedOperationException | IllegalArgumentException unknown) {
            return false; // To attach says why.
        }
    }

    private static boolean mayBeJvm(long pid) {
        try {
            return Files.readString(Path.of("/proc/" + pid + "/maps")).contains("libjvm.so");
        } catch (IOException notOurs) {
            return true; // To attach says why.
        }
    }

    private void awaitBeans(long pid) throws IOException, InterruptedException, Refused {
        for (long left = PATIENCE.toMillis(); beans().size() < schedulers() && left > 0; left -= BETWEEN.toMillis()) {
            Thread.sleep(BETWEEN);
        }
        if (beans().isEmpty()) {
            throw new Refused("process " + pid + " has no scheduler of gmp4j", null);
        }
    }

    /** Returns the number of schedulers: each has a thread of that name. Its bean is registered a moment after it has begun. */
    private long schedulers() throws IOException {
        ThreadMXBean threads = ManagementFactory.newPlatformMXBeanProxy(server, ManagementFactory.THREAD_MXBEAN_NAME, ThreadMXBean.class);
        ThreadInfo[] all = threads.getThreadInfo(threads.getAllThreadIds());
        return Arrays.stream(all).filter(t -> t != null && t.getThreadName().endsWith("-sysmon")).count();
    }

    /** Returns a scheduler's name without characters that control a terminal. */
    static String shown(String label) {
        return (label.startsWith("\"") ? ObjectName.unquote(label) : label).replaceAll("\\p{Cntrl}", "?");
    }

    /** Its schedulers, in the order of their names. */
    List<Bean> beans() throws IOException {
        List<Bean> beans = new ArrayList<>();
        for (ObjectName name : new TreeSet<>(server.queryNames(BEANS, null))) {
            beans.add(new Bean(shown(name.getKeyProperty("name")), JMX.newMXBeanProxy(server, name, GmpMXBean.class)));
        }
        return beans;
    }

    @Override
    public void close() {
        try {
            connector.close();
        } catch (IOException ended) {
            return; // The process has.
        }
    }
}
