// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.topo;

import java.util.Iterator;

/** {@link Machines#NAMES}, for the help of commands. */
public final class MachineNames implements Iterable<String> {
    /** Makes the command; picocli calls this. */
    public MachineNames() {
    }

    @Override
    public Iterator<String> iterator() {
        return Machines.NAMES.iterator();
    }
}
