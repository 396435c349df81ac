/** The real pipeline and plugins over documents in memory and a scripted provider: no port, no process. */
export * from '../../core/test-kit/pipeline-harness.ts';
