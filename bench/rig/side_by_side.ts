type Side = (round: number) => Promise<number>

/** A, B, A, B …: both sides meet the same weather. The first round of each warms up and does not count. */
export async function sideBySide(
  rounds: number,
  sides: { ours: Side; reference: Side },
): Promise<{ ours: number[]; reference: number[] }> {
  const ours: number[] = []
  const reference: number[] = []
  for (let round = 0; round <= rounds; round += 1) {
    ours.push(await sides.ours(round))
    reference.push(await sides.reference(round))
  }
  return { ours: ours.slice(1), reference: reference.slice(1) }
}
