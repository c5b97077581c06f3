// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.gmp4j.ffi.gmp.Structs;
import org.gmp4j.ffi.gmp.g;
import org.gmp4j.ffi.gmp.gmp_event;
import org.gmp4j.ffi.gmp.gmp_h;
import org.gmp4j.ffi.gmp.gqueue;
import org.gmp4j.ffi.gmp.m;
import org.gmp4j.ffi.gmp.p;
import org.gmp4j.ffi.gmp.pollDesc;
import org.gmp4j.ffi.gmp.pstat;
import org.gmp4j.ffi.gmp.schedstat;
import org.gmp4j.ffi.gmp.schedt;
import org.gmp4j.ffi.gmp.sudog;
import org.gmp4j.ffi.gmp.sysmontick;
import org.gmp4j.ffi.linux.epoll_event;
import org.gmp4j.ffi.linux.in6_addr;
import org.gmp4j.ffi.linux.in_addr;
import org.gmp4j.ffi.linux.itimerspec;
import org.gmp4j.ffi.linux.linux_h;
import org.gmp4j.ffi.linux.sched_param;
import org.gmp4j.ffi.linux.sigaction;
import org.gmp4j.ffi.linux.sockaddr;
import org.gmp4j.ffi.linux.sockaddr_in;
import org.gmp4j.ffi.linux.sockaddr_in6;
import org.gmp4j.ffi.linux.sockaddr_un;
import org.gmp4j.ffi.linux.timespec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Sizes, offsets and constants that Java believes, against those of the C compiler. When this fails after a change of a
 * header, {@code native-bindings/jextract.sh} wants to be run.
 */
class LayoutTest {
    private static final List<MemoryLayout> OURS = List.of(
            g.layout(), m.layout(), p.layout(), schedt.layout(), sudog.layout(), sysmontick.layout(), gqueue.layout(),
            gmp_event.layout(), pollDesc.layout(), pstat.layout(), schedstat.layout());

    private static final List<MemoryLayout> LINUX = List.of(
            timespec.layout(),
            itimerspec.layout(),
            sched_param.layout(),
            epoll_event.layout(),
            sigaction.layout(),
            sockaddr.layout(),
            sockaddr_in.layout(),
            sockaddr_in6.layout(),
            sockaddr_un.layout(),
            in_addr.layout(),
            in6_addr.layout());

    @TempDir
    Path dir;

    @Test
    void structsOfGmpH() throws Exception {
        Map<String, Long> java = layouts(OURS);
        assertEquals(java, inC("gmp.h", Cc.INCLUDE, java));
        assertTrue(java.size() > 150, "too few fields looked at: " + java.size());
    }

    @Test
    void aSwapOfTwoFieldsIsNoticed() throws Exception {
        String header = Files.readString(Cc.INCLUDE.resolve("gmp.h"));
        String swapped = header.replaceFirst("(?m)^( *uint64_t goid;.*\n)", "")
                .replaceFirst("(?m)^( *int64_t sleepWhen;.*\n)", "$1    uint64_t goid;\n");
        Files.writeString(dir.resolve("gmp.h"), swapped);
        Map<String, Long> java = layouts(OURS);
        Map<String, Long> c = inC("gmp.h", dir, java);
        assertTrue(!java.get("offsetof(struct g, goid)").equals(c.get("offsetof(struct g, goid)")));
        assertTrue(!java.equals(c));
    }

    /** The text from which the runtime takes offsets has each field of each struct, as the layout has it. */
    @Test
    void structsAsText() throws ReflectiveOperationException {
        int structs = 0;
        for (MemoryLayout layout : OURS) {
            String name = layout.name().orElseThrow();
            if (!name.matches("sysmontick|.*stat")) { // These are only within others.
                String text = (String) Structs.class.getField(name.toUpperCase(Locale.ROOT)).get(null);
                assertEquals(name + " " + layout.byteSize() + text(layout, "", 0), text);
                structs++;
            }
        }
        assertEquals(Structs.class.getFields().length, structs);
    }

    private static String text(MemoryLayout struct, String prefix, long offset) {
        StringBuilder text = new StringBuilder();
        for (String member : members(struct)) {
            PathElement path = PathElement.groupElement(member);
            MemoryLayout field = struct.select(path);
            long at = offset + struct.byteOffset(path);
            String type = field.equals(ValueLayout.JAVA_INT.withName(member)) ? "int"
                    : field.equals(ValueLayout.JAVA_LONG.withName(member)) ? "long" : "other";
            text.append(' ').append(prefix).append(member).append('=').append(at).append(':').append(type);
            text.append(field instanceof GroupLayout ? text(field, prefix + member + ".", at) : "");
        }
        return text.toString();
    }

    /** A new field may hide in padding, where no size and no offset changes. */
    @Test
    void noFieldOfGmpHIsMissing() throws Exception {
        String header = Files.readString(Cc.INCLUDE.resolve("gmp.h")).replaceAll("(?s)/\\*.*?\\*/", "");
        Map<String, TreeSet<String>> inHeader = new TreeMap<>();
        Matcher struct = Pattern.compile("(?s)struct (\\w+) \\{(.*?)\\n\\};").matcher(header);
        while (struct.find()) {
            TreeSet<String> names = new TreeSet<>();
            Matcher field = Pattern.compile("(\\w+)(?:\\[\\w+\\])?(?: GMP_ALIGNED)?;").matcher(struct.group(2));
            while (field.find()) {
                names.add(field.group(1));
            }
            inHeader.put(struct.group(1), names);
        }
        Map<String, TreeSet<String>> inJava = new TreeMap<>();
        for (MemoryLayout layout : OURS) {
            inJava.put(layout.name().orElseThrow(), new TreeSet<>(members(layout)));
        }
        assertEquals(inHeader, inJava);
    }

    @Test
    void structsOfLinux() throws Exception {
        Map<String, Long> java = layouts(LINUX);
        assertEquals(java, inC("gmp_linux.h", Cc.INCLUDE, java));
    }

    @Test
    void constantsOfGmpH() throws Exception {
        Map<String, Long> java = constants(gmp_h.class);
        assertEquals(java, inC("gmp.h", Cc.INCLUDE, java));
        String header = Files.readString(Cc.INCLUDE.resolve("gmp.h"));
        TreeSet<String> defined = new TreeSet<>();
        Matcher define = Pattern.compile("(?m)^#define (GMP_\\w+) [0-9]").matcher(header);
        while (define.find()) {
            defined.add("(int)(" + define.group(1) + ")");
        }
        assertEquals(defined, new TreeSet<>(java.keySet()));
    }

    @Test
    void constantsOfLinux() throws Exception {
        Map<String, Long> java = constants(linux_h.class);
        assertEquals(java, inC("gmp_linux.h", Cc.INCLUDE, java));
        assertTrue(java.size() > 100, "too few constants looked at: " + java.size());
    }

    @Test
    void errorNumbers() throws Exception {
        Map<String, Long> java = new LinkedHashMap<>();
        for (Field field : Errno.class.getFields()) {
            java.put("(int)(" + field.getName() + ")", (long) field.getInt(null));
        }
        assertEquals(java, inC("gmp_linux.h", Cc.INCLUDE, java));
        assertTrue(java.size() > 20);
    }

    @Test
    void epollEvents() throws Exception {
        Map<String, Long> java = Map.of("sizeof(struct epoll_event)", (long) Epoll.EVENT_BYTES);
        assertEquals(java, inC("gmp_linux.h", Cc.INCLUDE, java));
    }

    /** Everything but epoll_event, which x86-64 alone packs, is the same on aarch64. */
    @Test
    void theSameOnAarch64() throws Exception {
        String cc = "aarch64-linux-gnu-gcc";
        assumeTrue(Cc.exists(cc), "no cross compiler");
        Map<String, Long> gmp = layouts(OURS);
        gmp.putAll(constants(gmp_h.class));
        crossCheck(cc, "gmp.h", gmp);
        Map<String, Long> linux = layouts(LINUX);
        linux.keySet().removeIf(k -> k.contains("struct epoll_event"));
        linux.put("sizeof(struct epoll_event)", 16L);
        linux.put("offsetof(struct epoll_event, data)", 8L);
        linux.putAll(constants(linux_h.class));
        crossCheck(cc, "gmp_linux.h", linux);
    }

    private void crossCheck(String cc, String header, Map<String, Long> expected)
            throws IOException, InterruptedException {
        StringBuilder source = new StringBuilder("#include \"" + header + "\"\n#include <stddef.h>\n");
        expected.forEach((expression, value) -> source.append("_Static_assert((int64_t)(")
                .append(expression)
                .append(") == ")
                .append(value)
                .append("LL, \"")
                .append(expression)
                .append("\");\n"));
        Cc.compile(
                dir, source.toString(), cc, "-std=gnu11", "-c", "-I", Cc.INCLUDE.toString(), "-o", dir + "/cross.o");
    }

    /** Size of every struct, offset and size of every field. */
    private static Map<String, Long> layouts(List<MemoryLayout> structs) {
        Map<String, Long> all = new LinkedHashMap<>();
        for (MemoryLayout layout : structs) {
            String struct = "struct " + layout.name().orElseThrow();
            all.put("sizeof(" + struct + ")", layout.byteSize());
            for (String field : members(layout)) {
                PathElement path = PathElement.groupElement(field);
                all.put("offsetof(" + struct + ", " + field + ")", layout.byteOffset(path));
                all.put("sizeof(((" + struct + " *)0)->" + field + ")", layout.select(path).byteSize());
            }
        }
        return all;
    }

    private static List<String> members(MemoryLayout layout) {
        List<String> names = new ArrayList<>();
        ((GroupLayout) layout).memberLayouts().forEach(member -> member.name().ifPresent(names::add));
        return names;
    }

    private static Map<String, Long> constants(Class<?> header) throws ReflectiveOperationException {
        Map<String, Long> all = new TreeMap<>();
        for (Field field : header.getDeclaredFields()) {
            if (Modifier.isPublic(field.getModifiers()) && field.getName().matches("[A-Z][A-Z0-9_]*")) {
                // An unsigned constant comes as a negative int: the 32 bits are compared.
                all.put("(int)(" + field.getName() + ")", (long) field.getInt(null));
            }
        }
        return all;
    }

    private Map<String, Long> inC(String header, Path include, Map<String, Long> expressions)
            throws IOException, InterruptedException {
        StringBuilder source =
                new StringBuilder("#include \"" + header + "\"\n#include <stddef.h>\n#include <stdio.h>\n");
        source.append("int main(void) {\n");
        for (String expression : expressions.keySet()) {
            source.append("    printf(\"%lld\\n\", (long long)").append(expression).append(");\n");
        }
        source.append("}\n");
        List<String> lines = Cc.output(dir, include, source.toString());
        Map<String, Long> values = new LinkedHashMap<>();
        int i = 0;
        for (String expression : expressions.keySet()) {
            values.put(expression, Long.valueOf(lines.get(i++)));
        }
        return values;
    }
}
