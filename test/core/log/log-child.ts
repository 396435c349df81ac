import { createLog } from '../../../core/log/log.ts';

// Writes more than a pipe takes at once and ends without waiting.
const log = createLog({ level: 'info', name: 'child' });
for (let number = 0; number < 2000; number++) log.info({ number, padding: 'x'.repeat(200) }, 'line');
process.exit(0);
