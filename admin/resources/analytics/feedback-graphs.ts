import type { EntityManager } from '../../db/open-database.ts';
import type { Condition } from '../logs/filters.ts';
import type { GraphBody } from './graphs.ts';
import { bucketsOf } from './range.ts';
import type { Selection } from './source.ts';
import type { UsageStore } from './usage-store.ts';

type FeedbackGraph = 'feedbacks' | 'feedbacks/scores' | 'feedbacks/weighted' | 'feedbacks/ai-models';

/** Feedback is in the database; requests may be elsewhere. */
export interface GraphSource {
  readonly em: EntityManager;
  readonly store: UsageStore;
}

const weighted = 'coalesce(sum(f.value * f.weight) / nullif(sum(f.weight), 0), 0)::float8';

/** Graphs of feedback, which is read from its own table: by the time of the feedback, and by the requests of its trace. */
export const feedbackGraphs: {
  readonly [Name in FeedbackGraph]: (source: GraphSource, of: Selection) => Promise<GraphBody<Name>>;
} = {
  async feedbacks(source, selection) {
    const { all, points } = await readByTime<{ total: number }>(source, selection, 'count(*)::float8 as total');
    return {
      summary: { total: all?.total ?? 0 },
      data_points: points.map(({ timestamp, figures }) => ({ timestamp, total: figures?.total ?? 0 })),
    };
  },

  async 'feedbacks/weighted'(source, selection) {
    const { all, points } = await readByTime<{ avg: number }>(source, selection, `${weighted} as avg`);
    return {
      summary: { avg: all?.avg ?? 0 },
      data_points: points.map(({ timestamp, figures }) => ({ timestamp, avg: figures?.avg ?? 0 })),
    };
  },

  async 'feedbacks/scores'(source, selection) {
    const { text, values } = await feedbacksOf(source, selection);
    const rows = await source.em.execute<{ score: number; total: number }[]>(
      `select f.value::int as score, count(*)::float8 as total from feedbacks f where ${text} group by 1 order by 1`,
      [...values],
    );
    return { summary: { total: rows.reduce((sum, { total }) => sum + total, 0) }, data_points: rows };
  },

  async 'feedbacks/ai-models'(source, selection) {
    const { text, values } = await feedbacksOf(source, selection);
    const models = await source.store.models(selection);
    const rows = await source.em.execute<{ ai_model: string | null; total: number; avg_weighted_feedback: number }[]>(
      `select m.model as ai_model, count(*)::float8 as total, ${weighted} as avg_weighted_feedback
       from feedbacks f left join (${models.text}) m on m.workspace_id = f.workspace_id and m.trace_id = f.trace_id
       where ${text} group by 1 order by 2 desc, 1`,
      [...models.values, ...values],
    );
    return { summary: {}, data_points: rows };
  },
};

/** Returns the figures of each bucket and of all. */
async function readByTime<Figures>(source: GraphSource, selection: Selection, figures: string) {
  const { text, values } = await feedbacksOf(source, selection);
  const { bucketMs } = selection.range;
  const rows = await source.em.execute<(Figures & { bucket: number | null })[]>(
    `select (floor(extract(epoch from f.created_at) * 1000 / ?) * ?)::float8 as bucket, ${figures}
     from feedbacks f where ${text} group by grouping sets ((1), ())`,
    [bucketMs, bucketMs, ...values],
  );
  const byBucket = new Map(rows.map((row) => [row.bucket === null ? null : Number(row.bucket), row as Figures]));
  const points = bucketsOf(selection.range).map((at) => ({ timestamp: new Date(at).toISOString(), figures: byBucket.get(at) }));
  return { all: byBucket.get(null), points };
}

/** The feedback of a selection. With filters, feedback counts if a request of its trace passes them. */
async function feedbacksOf({ store }: GraphSource, selection: Selection): Promise<Condition> {
  const { organisationId, workspaceId, range } = selection;
  const traces = await store.traces(selection);
  const parts = [
    { text: 'f.organisation_id = ?', values: [organisationId] },
    { text: 'f.created_at >= ? and f.created_at < ?', values: [new Date(range.fromMs), new Date(range.toMs)] },
    ...(workspaceId === null ? [] : [{ text: 'f.workspace_id = ?', values: [workspaceId] }]),
    ...(traces === null ? [] : [traces]),
  ];
  return { text: parts.map(({ text }) => text).join(' and '), values: parts.flatMap(({ values }) => values) };
}
