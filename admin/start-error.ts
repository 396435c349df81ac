/**
 * A setting that cannot work with this database. The process prints the message and stops with the exit code of invalid settings.
 */
export class StartError extends Error {}
