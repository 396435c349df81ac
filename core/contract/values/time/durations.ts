export const minuteMs = 60_000;
export const hourMs = 3_600_000;
export const dayMs = 86_400_000;
