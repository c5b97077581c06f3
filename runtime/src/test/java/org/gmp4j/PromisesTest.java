// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;
import org.junit.platform.commons.annotation.Testable;
import org.junit.platform.commons.support.AnnotationSupport;

/** PROMISES.md names tests that exist, for every promise. */
class PromisesTest {
    private static final Pattern NAME = Pattern.compile("`([\\w.]+)#(\\w+)`");

    @Test
    void eachIsHeldByATest() throws IOException {
        List<String> wrong = new ArrayList<>();
        int rows = 0;
        for (String line : Files.readAllLines(Path.of("PROMISES.md"))) {
            if (!line.startsWith("| ") || line.startsWith("| when ") || line.startsWith("| **")) {
                continue;
            }
            rows++;
            String held = line.split(" *\\| *", -1)[3];
            Matcher m = NAME.matcher(held);
            int tests = 0;
            for (; m.find(); tests++) {
                if (!isTest(m.group(1), m.group(2))) {
                    wrong.add(m.group());
                }
            }
            if (tests == 0 && !line.contains("| nothing:")) {
                wrong.add(line);
            }
        }
        assertEquals(List.of(), wrong);
        assertTrue(rows > 40, rows + " promises");
    }

    private static boolean isTest(String type, String method) {
        try {
            Class<?> c = Class.forName("org.gmp4j." + type, false, PromisesTest.class.getClassLoader());
            return Arrays.stream(c.getDeclaredMethods()).filter(m -> m.getName().equals(method))
                    .anyMatch(m -> AnnotationSupport.isAnnotated(m, Testable.class));
        } catch (ClassNotFoundException e) {
            return false;
        }
    }
}
