// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.affinity;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;

/** Writes /sys and /proc trees of machines that we do not have. */
final class FakeSystem {
    private static final String CPU = "/sys/devices/system/cpu/";
    private static final String NODE = "/sys/devices/system/node/";

    private final Path root;

    FakeSystem(Path root) {
        this.root = root;
    }

    FakeSystem file(String path, String text) {
        try {
            Path file = root.resolve(path.substring(1));
            Files.createDirectories(file.getParent());
            Files.writeString(file, text + "\n");
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    FakeSystem online(String cpus) {
        return file(CPU + "online", cpus);
    }

    FakeSystem cpu(int id, int core, int socket, String siblings) {
        String dir = CPU + "cpu" + id + "/topology/";
        return file(dir + "core_id", "" + core).file(dir + "physical_package_id", "" + socket)
                .file(dir + "core_cpus_list", siblings);
    }

    FakeSystem cache(int id, int index, int level, String type, String size, String shared) {
        String dir = CPU + "cpu" + id + "/cache/index" + index + "/";
        return file(dir + "level", "" + level).file(dir + "type", type).file(dir + "size", size)
                .file(dir + "shared_cpu_list", shared);
    }

    FakeSystem node(int id, String cpus, String distances) {
        return file(NODE + "node" + id + "/cpulist", cpus).file(NODE + "node" + id + "/distance", distances);
    }

    FakeSystem nodes(String online) {
        return file(NODE + "online", online);
    }

    FakeSystem cgroup(String lines) {
        return file("/proc/self/cgroup", lines);
    }

    FakeSystem mounts(String lines) {
        return file("/proc/self/mountinfo", lines);
    }

    Topology topology(String allowed) {
        return new Topology(root, set(allowed));
    }

    static BitSet set(String cpus) {
        return CpuList.parse(cpus);
    }

    /**
     * Two sockets of one node each, two cores in each, two CPUs in each core: numbers go over all cores first, as on
     * most x86 machines. CPU 0 and 4 are core 0 of socket 0, 3 and 7 are core 1 of socket 1.
     */
    FakeSystem twoSocketsSmt() {
        online("0-7").nodes("0-1").node(0, "0-1,4-5", "10 21").node(1, "2-3,6-7", "21 10");
        for (int id = 0; id < 8; id++) {
            int first = id % 4;
            cpu(id, first % 2, first / 2, first + "," + (first + 4));
            cache(id, 0, 1, "Data", "48K", first + "," + (first + 4));
            cache(id, 1, 1, "Instruction", "32K", first + "," + (first + 4));
            cache(id, 2, 2, "Unified", "2048K", first + "," + (first + 4));
            cache(id, 3, 3, "Unified", "32M", first < 2 ? "0-1,4-5" : "2-3,6-7");
        }
        return this;
    }
}
