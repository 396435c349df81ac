// Preloaded by processes of tests. V8 would compile the code of the embedded database a second time to make it faster. That costs each
// process two seconds of CPU, more than most tests spend in the database.
require('node:v8').setFlagsFromString('--liftoff-only');
