import { toFile } from 'openai';
import type { Clients } from './clients.ts';
import { id } from './route-case.ts';

/**
 * Requests of the official clients outside the gateway's routes. Each is written as it must reach the provider below `/v1`; the
 * provider echoes the request, so that the parsed reply shows it.
 */
export const passThroughCases: Record<string, (clients: Clients) => PromiseLike<unknown>> = {
  'POST /assistants': ({ openai }) => openai.beta.assistants.create({ model: 'm' }),
  'GET /assistants': ({ openai }) => openai.beta.assistants.list(),
  [`GET /assistants/${id}`]: ({ openai }) => openai.beta.assistants.retrieve(id),
  [`POST /assistants/${id}`]: ({ openai }) => openai.beta.assistants.update(id, { name: 'n' }),
  [`DELETE /assistants/${id}`]: ({ openai }) => openai.beta.assistants.delete(id),

  'POST /threads': ({ openai }) => openai.beta.threads.create({}),
  'POST /threads/runs': ({ openai }) => openai.beta.threads.createAndRun({ assistant_id: 'a' }),
  [`GET /threads/${id}`]: ({ openai }) => openai.beta.threads.retrieve(id),
  [`POST /threads/${id}`]: ({ openai }) => openai.beta.threads.update(id, { metadata: {} }),
  [`DELETE /threads/${id}`]: ({ openai }) => openai.beta.threads.delete(id),
  'POST /threads/t/messages': ({ openai }) => openai.beta.threads.messages.create('t', { role: 'user', content: 'x' }),
  'GET /threads/t/messages': ({ openai }) => openai.beta.threads.messages.list('t'),
  [`GET /threads/t/messages/${id}`]: ({ openai }) => openai.beta.threads.messages.retrieve(id, { thread_id: 't' }),
  [`POST /threads/t/messages/${id}`]: ({ openai }) => openai.beta.threads.messages.update(id, { thread_id: 't', metadata: {} }),
  [`DELETE /threads/t/messages/${id}`]: ({ openai }) => openai.beta.threads.messages.delete(id, { thread_id: 't' }),
  'POST /threads/t/runs': ({ openai }) => openai.beta.threads.runs.create('t', { assistant_id: 'a' }),
  'GET /threads/t/runs': ({ openai }) => openai.beta.threads.runs.list('t'),
  [`GET /threads/t/runs/${id}`]: ({ openai }) => openai.beta.threads.runs.retrieve(id, { thread_id: 't' }),
  [`POST /threads/t/runs/${id}`]: ({ openai }) => openai.beta.threads.runs.update(id, { thread_id: 't', metadata: {} }),
  [`POST /threads/t/runs/${id}/cancel`]: ({ openai }) => openai.beta.threads.runs.cancel(id, { thread_id: 't' }),
  [`POST /threads/t/runs/${id}/submit_tool_outputs`]: ({ openai }) =>
    openai.beta.threads.runs.submitToolOutputs(id, { thread_id: 't', tool_outputs: [] }),
  'GET /threads/t/runs/r/steps': ({ openai }) => openai.beta.threads.runs.steps.list('r', { thread_id: 't' }),
  [`GET /threads/t/runs/r/steps/${id}`]: ({ openai }) =>
    openai.beta.threads.runs.steps.retrieve(id, { thread_id: 't', run_id: 'r' }),

  'POST /vector_stores': ({ openai }) => openai.vectorStores.create({ name: 'n' }),
  'GET /vector_stores': ({ openai }) => openai.vectorStores.list(),
  [`GET /vector_stores/${id}`]: ({ openai }) => openai.vectorStores.retrieve(id),
  [`POST /vector_stores/${id}`]: ({ openai }) => openai.vectorStores.update(id, { name: 'n' }),
  [`DELETE /vector_stores/${id}`]: ({ openai }) => openai.vectorStores.delete(id),
  'POST /vector_stores/v/search': ({ openai }) => openai.vectorStores.search('v', { query: 'q' }),
  'POST /vector_stores/v/files': ({ openai }) => openai.vectorStores.files.create('v', { file_id: 'f' }),
  'GET /vector_stores/v/files': ({ openai }) => openai.vectorStores.files.list('v'),
  [`GET /vector_stores/v/files/${id}`]: ({ openai }) => openai.vectorStores.files.retrieve(id, { vector_store_id: 'v' }),
  [`POST /vector_stores/v/files/${id}`]: ({ openai }) =>
    openai.vectorStores.files.update(id, { vector_store_id: 'v', attributes: {} }),
  [`GET /vector_stores/v/files/${id}/content`]: ({ openai }) => openai.vectorStores.files.content(id, { vector_store_id: 'v' }),
  [`DELETE /vector_stores/v/files/${id}`]: ({ openai }) => openai.vectorStores.files.delete(id, { vector_store_id: 'v' }),
  'POST /vector_stores/v/file_batches': ({ openai }) => openai.vectorStores.fileBatches.create('v', { file_ids: ['f'] }),
  [`GET /vector_stores/v/file_batches/${id}`]: ({ openai }) =>
    openai.vectorStores.fileBatches.retrieve(id, { vector_store_id: 'v' }),
  [`POST /vector_stores/v/file_batches/${id}/cancel`]: ({ openai }) =>
    openai.vectorStores.fileBatches.cancel(id, { vector_store_id: 'v' }),
  [`GET /vector_stores/v/file_batches/${id}/files`]: ({ openai }) =>
    openai.vectorStores.fileBatches.listFiles(id, { vector_store_id: 'v' }),

  [`GET /models/${id}`]: ({ openai }) => openai.models.retrieve(id),
  [`DELETE /models/${id}`]: ({ openai }) => openai.models.delete(id),
  [`GET /fine_tuning/jobs/${id}/events`]: ({ openai }) => openai.fineTuning.jobs.listEvents(id),
  [`GET /fine_tuning/jobs/${id}/checkpoints`]: ({ openai }) => openai.fineTuning.jobs.checkpoints.list(id),
  [`POST /fine_tuning/jobs/${id}/pause`]: ({ openai }) => openai.fineTuning.jobs.pause(id),
  'GET /chat/completions': ({ openai }) => openai.chat.completions.list(),
  [`DELETE /chat/completions/${id}`]: ({ openai }) => openai.chat.completions.delete(id),
  'POST /conversations': ({ openai }) => openai.conversations.create({}),
  [`POST /uploads/${id}/parts`]: async ({ openai }) =>
    openai.uploads.parts.create(id, { data: await toFile(Buffer.alloc(9000), 'part') }),

  'POST /messages/batches': ({ anthropic }) => anthropic.messages.batches.create({ requests: [] }),
  'GET /messages/batches': ({ anthropic }) => anthropic.messages.batches.list(),
  [`GET /messages/batches/${id}`]: ({ anthropic }) => anthropic.messages.batches.retrieve(id),
  [`POST /messages/batches/${id}/cancel`]: ({ anthropic }) => anthropic.messages.batches.cancel(id),
  [`DELETE /messages/batches/${id}`]: ({ anthropic }) => anthropic.messages.batches.delete(id),
};
