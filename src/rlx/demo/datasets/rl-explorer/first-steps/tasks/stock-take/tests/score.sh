# Shared by both steps: score 0|1 writes the reward.
score() {
  mkdir -p /logs/verifier
  echo "$1" > /logs/verifier/reward.txt
}
