/** How often a store is asked that does not answer in time, and the milliseconds between two tries. */
const TRIES = 8;
const PAUSE_MS = 1_000;

/** Asks again while the answer says that the store is away, as on a machine that stands still for a moment. The last answer is returned as it is. */
export const askPatiently = async <Answer>(
  ask: () => Promise<Answer>,
  isAway: (answer: Answer) => boolean,
): Promise<Answer> => {
  for (let tries = 1; ; tries += 1) {
    const answer = await ask();
    if (!isAway(answer) || tries === TRIES) return answer;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
};
