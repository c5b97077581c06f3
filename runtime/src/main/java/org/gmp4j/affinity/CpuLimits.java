// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.affinity;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * The CPU bandwidth limits that hold for this process: {@code cpu.max} of cgroup v2 and {@code cpu.cfs_quota_us} of v1, in the process's
 * own cgroup and in each one above it. The kernel enforces all of them, so the smallest counts. If both versions are mounted, both are
 * read.
 *
 * <p>Two files determine the process's directory: /proc/self/cgroup has the path within the hierarchy, and /proc/self/mountinfo has the
 * mounted parts of the hierarchy and their mount points. A container may see only a part of the hierarchy. If no mounted part contains the
 * path, the limits are those of the first mount point. If a directory of the path is missing, the limits are those of the directories above
 * it, up to the mount point.
 */
final class CpuLimits {
    /** A cgroup file system: {@code root} is the directory of the hierarchy that is mounted at {@code point}. */
    private record Mount(boolean v2, String root, String point) {
    }

    /** The greatest number of hierarchies, and of mount points of a hierarchy, that are read. No kernel has more hierarchies. */
    private static final int MOST = 64;
    /** The greatest length of a path that the kernel accepts. */
    private static final int LONGEST = 4_096;
    /** The greatest number of folders that are read. The cgroups of a process have fewer. */
    private static final int MOST_DIRS = 1 << 14;
    private static final int MOST_PROBLEMS = 8;

    private final SysFiles files;
    private final List<String> problems = new ArrayList<>();
    private final boolean withSets;
    /** The cgroups whose limits hold, from the process's own upwards. The value says whether a cgroup is of v2. */
    private final Map<Path, Boolean> dirs = new LinkedHashMap<>();
    private final Map<Path, Topology.CpuLimit> found = new LinkedHashMap<>();
    private final Map<Path, Topology.Cpuset> sets = new LinkedHashMap<>();
    private int visited;

    private CpuLimits(SysFiles files, boolean withSets) {
        this.files = files;
        this.withSets = withSets;
    }

    /** Returns the limits, from the process's own cgroup upwards; empty when there are none. */
    static List<Topology.CpuLimit> read(SysFiles files) {
        return new CpuLimits(files, false).read().limits();
    }

    /**
     * Reads the limits repeatedly, for sysmon. It looks for the directories of the process's cgroups again only when the process has moved
     * to another cgroup, because the kernel takes long to write /proc/self/mountinfo. Only one thread may use it.
     */
    static final class Followed {
        private final SysFiles files;
        private @Nullable String cgroup;
        private @Nullable CpuLimits limits;

        Followed(SysFiles files) {
            this.files = files;
        }

        List<Topology.CpuLimit> now() {
            String now = SysFiles.text(files.at("/proc/self/cgroup"));
            if (limits == null || !Objects.equals(now, cgroup)) {
                limits = new CpuLimits(files, false).read();
                cgroup = now;
            } else {
                limits.readAgain();
            }
            return limits.limits();
        }
    }

    private void readAgain() {
        found.clear();
        for (Map.Entry<Path, Boolean> dir : dirs.entrySet()) {
            readLimit(dir.getKey(), dir.getValue());
        }
    }

    /** Reads limits and cpusets. */
    static CpuLimits all(SysFiles files) {
        return new CpuLimits(files, true).read();
    }

    /** Returns a sentence, without a full stop, for each text that has another form than the kernel's. */
    List<String> problems() {
        return problems;
    }

    private void problem(String sentence) {
        if (problems.size() < MOST_PROBLEMS) {
            problems.add(sentence);
        }
    }

    List<Topology.CpuLimit> limits() {
        return List.copyOf(found.values());
    }

    List<Topology.Cpuset> cpusets() {
        return List.copyOf(sets.values());
    }

    private CpuLimits read() {
        Path cgroup = files.at("/proc/self/cgroup");
        List<String> lines = SysFiles.lines(cgroup);
        if (lines.size() > MOST) {
            problem(SysFiles.shown(cgroup) + " has " + lines.size() + " lines, and no kernel has more than " + MOST
                    + " hierarchies");
            return this;
        }
        List<String> mountinfo = SysFiles.lines(files.at("/proc/self/mountinfo"));
        for (String line : lines) {
            String[] parts = line.split(":", 3); // hierarchy-ID:controllers:path
            if (parts.length < 3) {
                continue;
            }
            if (!isPath(parts[2])) {
                problem(SysFiles.shown(cgroup) + " says \"" + SysFiles.cut(line) + "\", which is no path of a cgroup");
                continue;
            }
            boolean v2 = parts[0].equals("0") && parts[1].isEmpty();
            if (v2 || has(parts[1], "cpu")) {
                walk(mounts(mountinfo, v2, "cpu"), parts[2]);
            }
            if (!v2 && withSets && has(parts[1], "cpuset")) {
                walk(mounts(mountinfo, false, "cpuset"), parts[2]);
            }
        }
        return this;
    }

    private static boolean isPath(String text) {
        return text.startsWith("/") && text.length() <= LONGEST && text.indexOf('\0') < 0;
    }

    private static List<Mount> mounts(List<String> mountinfo, boolean wantedV2, String controller) {
        List<Mount> mounts = new ArrayList<>();
        for (String line : mountinfo) {
            // id parent major:minor root mount-point options [optional fields] - type source super-options
            int dash = line.indexOf(" - ");
            if (dash < 0) {
                continue;
            }
            String[] before = line.substring(0, dash).split(" ");
            String[] after = line.substring(dash + 3).split(" ");
            if (before.length < 5 || after.length < 1) {
                continue;
            }
            boolean v2 = after[0].equals("cgroup2");
            boolean v1 = after[0].equals("cgroup") && has(after[after.length - 1], controller);
            String root = unescape(before[3]);
            String point = unescape(before[4]);
            if (mounts.size() < MOST && (wantedV2 ? v2 : v1) && isPath(root) && isPath(point)) {
                mounts.add(new Mount(v2, root, point));
            }
        }
        return mounts;
    }

    private void walk(List<Mount> mounts, String path) {
        boolean none = true;
        for (Mount m : mounts) {
            String below = below(m.root, path);
            if (below != null) {
                walk(m, below);
                none = false;
            }
        }
        if (none && !mounts.isEmpty()) {
            walk(mounts.getFirst(), "");
        }
    }

    private void walk(Mount mount, String below) {
        Path all = files.root().normalize();
        Path top = files.at(mount.point).normalize();
        Path dir = files.at(mount.point + "/" + below).normalize();
        if (!top.startsWith(all) && !all.toString().isEmpty()) {
            problem("a cgroup file system is mounted on " + SysFiles.cut(mount.point) + ", which is outside of "
                    + SysFiles.shown(files.root()));
            return;
        }
        for (; dir != null && dir.startsWith(top); dir = dir.getParent()) {
            if (++visited > MOST_DIRS) {
                problem("the cgroups of the process are in more than " + MOST_DIRS + " folders, which no kernel has");
                return;
            }
            if (dirs.putIfAbsent(dir, mount.v2) == null) {
                readLimit(dir, mount.v2);
                if (withSets) {
                    readCpuset(dir);
                }
            }
        }
    }

    private void readLimit(Path dir, boolean v2) {
        Topology.CpuLimit limit = v2 ? v2(dir) : v1(dir);
        if (limit != null) {
            found.put(dir, limit);
        }
    }

    /** Returns {@code path} relative to {@code root}, or null when it is neither {@code root} nor below it. */
    private static @Nullable String below(String root, String path) {
        if (Arrays.asList(path.split("/")).contains("..")) {
            return null; // The directory is outside of the process's cgroup namespace.
        }
        if (root.equals("/")) {
            return path;
        }
        if (root.equals(path)) {
            return "";
        }
        return path.startsWith(root + "/") ? path.substring(root.length()) : null;
    }

    /** Reads the cpuset in force: v2's file, v1's file, or the requested cpuset if a kernel has neither. */
    private void readCpuset(Path dir) {
        for (String name : new String[] {"cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"}) {
            String text = SysFiles.text(dir.resolve(name));
            if (text != null && !text.isEmpty()) {
                BitSet cpus = CpuList.parse(text);
                if (cpus.isEmpty()) {
                    problem(SysFiles.shown(dir.resolve(name)) + " says \"" + SysFiles.cut(text) + "\", which is no list of CPUs");
                } else {
                    sets.put(dir, new Topology.Cpuset("/" + files.root().relativize(dir), cpus));
                }
                return;
            }
        }
    }

    /** Reads {@code cpu.max}: "max 100000" or "150000 100000"; the period may be missing. */
    private Topology.@Nullable CpuLimit v2(Path dir) {
        String text = SysFiles.text(dir.resolve("cpu.max"));
        if (text == null) {
            return null;
        }
        String[] parts = text.split("\\s+");
        return limit(dir, parts[0], parts.length > 1 ? parts[1] : "100000");
    }

    private Topology.@Nullable CpuLimit v1(Path dir) {
        String quota = SysFiles.text(dir.resolve("cpu.cfs_quota_us"));
        return limit(dir, quota, SysFiles.text(dir.resolve("cpu.cfs_period_us")));
    }

    /** Returns the limit; null for none: "max", -1, or a file that does not exist. */
    private Topology.@Nullable CpuLimit limit(Path dir, @Nullable String quota, @Nullable String period) {
        try {
            long q = quota == null ? -1 : Long.parseLong(quota);
            long p = period == null ? -1 : Long.parseLong(period);
            return q > 0 && p > 0 ? new Topology.CpuLimit("/" + files.root().relativize(dir), q, p) : null;
        } catch (NumberFormatException e) {
            if (!"max".equals(quota)) {
                problem("the cgroup " + SysFiles.shown(dir) + " has the CPU limit \"" + SysFiles.cut(quota) + "\" every \""
                        + SysFiles.cut(period) + "\" µs, which are no numbers");
            }
            return null;
        }
    }

    private static boolean has(String commaSeparated, String word) {
        return Arrays.asList(commaSeparated.split(",")).contains(word);
    }

    /** Decodes a text of mountinfo, which has space, tab, newline and backslash as three octal digits. */
    private static String unescape(String text) {
        StringBuilder plain = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\\' && i + 4 <= text.length() && text.substring(i + 1, i + 4).matches("[0-3][0-7]{2}")) {
                c = (char) Integer.parseInt(text.substring(i + 1, i + 4), 8);
                i += 3;
            }
            plain.append(c);
        }
        return plain.toString();
    }
}
